import type { Operation } from '@convoke/contract';

/** On every response. */
const everywhere = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Headers of every response. Only public documents may be cached. */
export function baseHeaders(
  operation: Operation | undefined,
  requestId: string,
): Record<string, string> {
  const headers: Record<string, string> = { ...everywhere, 'x-request-id': requestId };
  const isPublic = operation?.caller === 'anonymous' && operation.method === 'GET';
  if (!isPublic) headers['cache-control'] = 'no-store';
  // RFC 6749 section 5.1: for HTTP/1.0 caches.
  if (operation?.id === 'issue_token') headers['pragma'] = 'no-cache';
  return headers;
}
