import type { IncomingMessage } from 'node:http';
import { type Operation, isOpenToSessionTokens, operationList } from '@convoke/contract';
import { DeclaredPaths } from '../declared-paths.ts';

/**
 * Lets pages of the listed origins call the operations that session tokens open, and no others (D-201). There are no
 * cookies to protect here: the browser adds no credentials of its own, and the token decides as everywhere.
 */
export interface Cors {
  /** Headers of an answer of the operation. */
  answerHeaders(operation: Operation, request: Asking): Readonly<Record<string, string>>;
  /**
   * Headers of the answer to a preflight request; undefined if the request is none, or may not be followed by others.
   */
  preflightHeaders(request: Asking): Readonly<Record<string, string>> | undefined;
}

type Asking = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

const exposed = [
  'location',
  'retry-after',
  'idempotency-replayed',
  'x-request-id',
  'x-run-id',
  'x-session-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
].join(', ');
const accepted =
  'authorization, content-type, last-event-id, idempotency-key, prefer, x-request-id';
const preflightSeconds = 7200;
const none: Readonly<Record<string, string>> = {};

export function createCors(
  origins: ReadonlySet<string>,
  serves: (operation: Operation) => boolean,
): Cors {
  const open = operationList.filter(
    (operation) => serves(operation) && isOpenToSessionTokens(operation),
  );
  const isOpen = new Set(open);
  const declared = new DeclaredPaths(open);
  /** For caches: which answer was given depends on the origin. */
  const vary = origins.size === 0 ? none : { vary: 'Origin' };
  const allowed = ({ headers: { origin } }: Asking) =>
    origin !== undefined && origins.has(origin)
      ? { ...vary, 'access-control-allow-origin': origin }
      : undefined;

  return {
    answerHeaders(operation, request) {
      if (!isOpen.has(operation)) return none;
      const headers = allowed(request);
      return headers === undefined
        ? vary
        : { ...headers, 'access-control-expose-headers': exposed };
    },

    preflightHeaders(request) {
      const { method, url = '/', headers: sent } = request;
      if (method !== 'OPTIONS' || sent['access-control-request-method'] === undefined) {
        return undefined;
      }
      const headers = allowed(request);
      const [path = '/'] = url.split('?');
      const methods = headers === undefined ? [] : declared.methodsAt(path);
      if (headers === undefined || methods.length === 0) return undefined;
      return {
        ...headers,
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': accepted,
        'access-control-max-age': String(preflightSeconds),
      };
    },
  };
}
