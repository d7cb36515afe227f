import type { Operation } from '@convoke/contract';

/** On every response. Answers to somebody who showed a token are never to be kept by anyone in between. */
const everywhere = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export function baseHeaders(
  operation: Operation | undefined,
  requestId: string,
): Record<string, string> {
  const headers: Record<string, string> = { ...everywhere, 'x-request-id': requestId };
  const isPublic = operation?.caller === 'anonymous' && operation.method === 'GET';
  if (!isPublic) headers['cache-control'] = 'no-store';
  // RFC 6749 section 5.1: for caches that know HTTP/1.0 only.
  if (operation?.id === 'issue_token') headers['pragma'] = 'no-cache';
  return headers;
}
