import { Convoke } from '@convoke/sdk';

/** Connects to the server and tenant that four environment variables name, as your own backend would. */
export function connect() {
  const {
    CONVOKE_BASE_URL: baseUrl,
    CONVOKE_CLIENT_ID: clientId,
    CONVOKE_CLIENT_SECRET: clientSecret,
    CONVOKE_CLIENT_TENANT_ID: tenantId,
  } = process.env;
  if (baseUrl === undefined || clientId === undefined || clientSecret === undefined) {
    throw new Error('set CONVOKE_BASE_URL, CONVOKE_CLIENT_ID and CONVOKE_CLIENT_SECRET');
  }
  // Without a tenant the SDK looks it up, and fails once the client can access a second one.
  return new Convoke({ baseUrl, clientId, clientSecret, workspace: { tenantId } });
}
