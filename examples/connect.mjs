import { readFileSync } from 'node:fs';
import { Convoke } from '@convoke/sdk';

/**
 * Connects to the server and tenant that the environment names, as your own backend would; on the machine of a server
 * that was started with `npm start`, to what it wrote to `.convoke/quickstart.json`.
 */
export function connect() {
  const { baseUrl, clientId, clientSecret, tenantId } = settings();
  // Without a tenant the SDK looks it up, and fails once the client can access a second one.
  return new Convoke({ baseUrl, clientId, clientSecret, workspace: { tenantId } });
}

/** @returns {{ baseUrl: string, clientId: string, clientSecret: string, tenantId: string | undefined }} */
export function settings() {
  const {
    CONVOKE_BASE_URL: baseUrl,
    CONVOKE_CLIENT_ID: clientId,
    CONVOKE_CLIENT_SECRET: clientSecret,
    CONVOKE_CLIENT_TENANT_ID: tenantId,
  } = process.env;
  if (baseUrl !== undefined && clientId !== undefined && clientSecret !== undefined) {
    return { baseUrl, clientId, clientSecret, tenantId };
  }
  const quick = quickstart();
  return {
    baseUrl: baseUrl ?? quick.base_url,
    clientId: quick.client_id,
    clientSecret: quick.client_secret,
    tenantId: quick.tenant_id,
  };
}

function quickstart() {
  const path = `${process.env.CONVOKE_DATA_DIR ?? '.convoke'}/quickstart.json`;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new Error(
      `${path} cannot be read. Start Convoke with npm start and run this in the same folder, or set CONVOKE_BASE_URL, CONVOKE_CLIENT_ID and CONVOKE_CLIENT_SECRET.`,
    );
  }
}
