/** The command line signs in with a code that a person types into a browser (RFC 8628). */
export const cliClientId = 'convoke-cli';
/** The console signs in with a redirect and PKCE. */
export const consoleClientId = 'convoke-console';
/** The account page starts a sign-in like any client, and needs only the session that it makes. */
export const accountClientId = 'convoke-account';

const own: ReadonlySet<string> = new Set([cliClientId, consoleClientId, accountClientId]);

/** All others are assistants, which get tokens for MCP addresses only. */
export function isOwnClient(clientId: string): boolean {
  return own.has(clientId);
}
