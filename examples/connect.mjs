import { Convoke } from '@convoke/sdk';

/** Connects to the server that three environment variables name, as your own backend would. */
export function connect() {
  const {
    CONVOKE_BASE_URL: baseUrl,
    CONVOKE_CLIENT_ID: clientId,
    CONVOKE_CLIENT_SECRET: clientSecret,
  } = process.env;
  if (baseUrl === undefined || clientId === undefined || clientSecret === undefined) {
    throw new Error('set CONVOKE_BASE_URL, CONVOKE_CLIENT_ID and CONVOKE_CLIENT_SECRET');
  }
  return new Convoke({ baseUrl, clientId, clientSecret });
}
