import { refuseToken } from './token-refusal.ts';

/** The parameters of a token request (RFC 6749 section 4, RFC 8693 section 2.1). */
export interface TokenForm {
  readonly grant_type?: string | undefined;
  readonly scope?: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly subject_token?: string | undefined;
  readonly subject_token_type?: string | undefined;
  readonly requested_token_type?: string | undefined;
  readonly resource?: string | undefined;
  readonly code?: string | undefined;
  readonly code_verifier?: string | undefined;
  readonly redirect_uri?: string | undefined;
  readonly refresh_token?: string | undefined;
}

export interface TokenRequest {
  readonly authorization: string | undefined;
  /** Each parameter was sent once, and none is empty. */
  readonly form: TokenForm;
  /** The caller's address (`http/caller-address.ts`). */
  readonly address: string;
  readonly requestId: string;
}

/** The credentials a client presents at the token endpoint, not yet checked (RFC 6749 section 2.3.1). */
export interface PresentedSecret {
  readonly clientId: string;
  readonly secret: string;
}

/** Reads `client_secret_basic` or `client_secret_post`; a request with both is refused. */
export function readPresentedSecret(
  authorization: string | undefined,
  form: TokenForm,
): PresentedSecret {
  const { client_id: clientId, client_secret: secret } = form;
  if (authorization === undefined) {
    if (clientId === undefined || secret === undefined) return refuseToken('invalid_client');
    return { clientId, secret };
  }
  const presented = readBasic(authorization) ?? refuseToken('invalid_client');
  if (secret !== undefined) {
    return refuseToken(
      'invalid_request',
      'Send the secret with HTTP Basic or in the form, not both.',
    );
  }
  if (clientId !== undefined && clientId !== presented.clientId) {
    return refuseToken('invalid_request', 'client_id differs from the one in HTTP Basic.');
  }
  return presented;
}

const basicPattern = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

function readBasic(authorization: string): PresentedSecret | undefined {
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
