import type { Operation } from '../operation.ts';
import type { Header, Ref } from './document.ts';

export const responseHeaders = {
  RequestId: {
    description: 'Identifies this request in the logs of the server.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
  },
  NoStore: {
    description: '`no-store` wherever the response belongs to one caller.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Header>;

export function headerRef(name: keyof typeof responseHeaders): Ref {
  return { $ref: `#/components/headers/${name}` };
}

export function commonHeaders(operation: Operation): Record<string, Ref> {
  const headers = { 'X-Request-Id': headerRef('RequestId') };
  // Spec §1.6: responses of organization management must not be cached.
  if (operation.caller !== 'human') return headers;
  return { ...headers, 'Cache-Control': headerRef('NoStore') };
}
