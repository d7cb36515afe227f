import { refuseToken } from './token-refusal.ts';

/** The parameters of a token request (RFC 6749 section 4.4.2). */
export interface TokenForm {
  readonly grant_type?: string | undefined;
  readonly scope?: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
}

/** What a client says of itself at the token endpoint (RFC 6749 section 2.3.1). */
export interface ClientClaim {
  readonly clientId: string;
  readonly secret: string;
}

/** `client_secret_basic` or `client_secret_post`, and never both. */
export function readClientClaim(authorization: string | undefined, form: TokenForm): ClientClaim {
  const { client_id: clientId, client_secret: secret } = form;
  if (authorization === undefined) {
    if (clientId === undefined || secret === undefined) return refuseToken('invalid_client');
    return { clientId, secret };
  }
  const claim = readBasic(authorization) ?? refuseToken('invalid_client');
  if (secret !== undefined) {
    return refuseToken(
      'invalid_request',
      'Send the secret by HTTP Basic or in the form, not both.',
    );
  }
  if (clientId !== undefined && clientId !== claim.clientId) {
    return refuseToken('invalid_request', 'client_id differs from the one of HTTP Basic.');
  }
  return claim;
}

const basicPattern = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

function readBasic(authorization: string): ClientClaim | undefined {
  const encoded = basicPattern.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) return undefined;
  const clientId = formDecoded(text.slice(0, colon));
  const secret = formDecoded(text.slice(colon + 1));
  return clientId === undefined || secret === undefined ? undefined : { clientId, secret };
}

function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
