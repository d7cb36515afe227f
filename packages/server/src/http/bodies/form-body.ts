import { refuseToken } from '../../auth/tokens/token-refusal.ts';
import { mediaType } from '../media.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * RFC 6749 §3.2: a parameter without a value counts as absent, and a repeated parameter is an error. Only the token
 * endpoint accepts a form, so a malformed form gets an OAuth error.
 */
export function parseForm(
  bytes: Uint8Array,
  contentType: string | undefined,
): Record<string, string> {
  if (mediaType(contentType) !== 'application/x-www-form-urlencoded') {
    return refuseToken(
      'invalid_request',
      'Content-Type must be application/x-www-form-urlencoded.',
    );
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(decode(bytes))) {
    if (fields.has(name)) return refuseToken('invalid_request', `${name} was sent twice.`);
    fields.set(name, value);
  }
  return Object.fromEntries([...fields].filter(([, value]) => value !== ''));
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return refuseToken('invalid_request', 'The form is not valid UTF-8.');
  }
}
