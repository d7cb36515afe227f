import { isIP } from 'node:net';
import type { ClientMetadata } from 'oidc-provider';
import { z } from 'zod';
import { previewOf } from '../../../domain/preview.ts';

/**
 * What an assistant says about itself, in a document at the address that is its id or in a registration. A stranger
 * writes it, so that nothing is taken over but a name and where the person may return (D-621).
 */

const idMaxCharacters = 512;
const nameCharacters = 60;
const redirectMaxCharacters = 1_024;
const redirectsMax = 20;

/**
 * Whether a client id is the address of a document: https, with a path, and written as a browser writes it, so that no
 * two texts are the same address.
 */
export function isDocumentId(id: string): boolean {
  if (id.length > idMaxCharacters || !URL.canParse(id)) return false;
  const { href, protocol, pathname, hash, username, password } = new URL(id);
  const isPlain = hash === '' && username === '' && password === '' && !id.includes('#');
  return href === id && protocol === 'https:' && pathname !== '/' && isPlain;
}

const about = z.looseObject({
  client_name: z.string().optional().catch(undefined),
  redirect_uris: z.array(z.string()).min(1).max(redirectsMax),
  // A secret that a document names is known to everyone, and a key would have to be fetched, too.
  token_endpoint_auth_method: z.literal('none').optional(),
  client_secret: z.never().optional(),
  grant_types: z.array(z.string()).max(redirectsMax).optional(),
});

const documented = about.extend({ client_id: z.string() });

/** Undefined unless the document is about this id, for a client without a secret, and names somewhere to return. */
export function metadataInDocument(id: string, text: string): ClientMetadata | undefined {
  const document = documented.safeParse(parsed(text));
  if (!document.success || document.data.client_id !== id) return undefined;
  return metadataOf(id, document.data, new URL(id).host);
}

/** Of a registration (RFC 7591), whose client gets the id `id`. */
export function metadataInRegistration(id: string, text: string): ClientMetadata | undefined {
  const registration = about.safeParse(parsed(text));
  return registration.success ? metadataOf(id, registration.data, 'An assistant') : undefined;
}

function metadataOf(
  id: string,
  { client_name: said = '', redirect_uris: all, grant_types: grants }: z.infer<typeof about>,
  fallbackName: string,
): ClientMetadata | undefined {
  const redirects = all.filter(isAllowedRedirect);
  if (redirects.length === 0 || grants?.includes('authorization_code') === false) return undefined;
  // Without characters that turn or hide the text around them.
  const name = previewOf(said.replaceAll(/\p{C}+/gu, ' '), nameCharacters);
  return {
    client_id: id,
    client_name: name === '' ? fallbackName : name,
    // RFC 8252 section 7.3: a program on the person's computer takes any free port.
    application_type: 'native',
    redirect_uris: redirects,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: 'EdDSA',
  };
}

/** https, or a program on the person's computer: another scheme may belong to any program. */
function isAllowedRedirect(text: string): boolean {
  if (text.length > redirectMaxCharacters || text.includes('#') || !URL.canParse(text))
    return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return isLoopback(hostname) ? protocol === 'http:' : protocol === 'https:';
}

/** Whether the host of a URL is the person's own computer. */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
