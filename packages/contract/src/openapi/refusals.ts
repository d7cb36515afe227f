import type { z } from 'zod';
import { type ErrorCode, errors } from '../errors.ts';
import { exampleId } from '../ids.ts';
import { errorsOf, type Operation } from '../operation.ts';
import { alreadyIssuedBody, errorBody } from '../resources/error.ts';
import type { Ref, Response, Schema } from './document.ts';
import { headerRef } from './headers.ts';
import type { SchemaWriter } from './schemas.ts';

/** Spec §7: each error status with its name in RFC 9110 and its meaning for the caller. */
const statuses: Readonly<Record<number, readonly [name: string, meaning: string]>> = {
  400: ['BadRequest', 'The request is invalid. Do not retry it unchanged.'],
  401: ['Unauthorized', 'The credentials are missing, expired or wrong.'],
  403: ['Forbidden', 'The caller is not allowed to do this.'],
  404: [
    'NotFound',
    'The resource does not exist in the selected tenant, or the capability is not available.',
  ],
  406: ['NotAcceptable', 'The response is not available in the accepted media types.'],
  409: [
    'Conflict',
    'The request conflicts with the current state. Read the state before you retry.',
  ],
  410: ['Gone', 'What the cursor names is no longer kept. Start again without it.'],
  412: [
    'PreconditionFailed',
    'The key refers to a session that has ended. Use a new key for a new session.',
  ],
  413: ['ContentTooLarge', 'The body is too large.'],
  415: ['UnsupportedMediaType', 'The media type of the body is not supported.'],
  416: ['RangeNotSatisfiable', 'The range is outside the file.'],
  429: [
    'TooManyRequests',
    'Too many requests. Wait for the time in Retry-After, with backoff and jitter.',
  ],
  500: [
    'InternalServerError',
    'Internal server error. Retry a limited number of times, with backoff.',
  ],
  503: [
    'ServiceUnavailable',
    'Temporarily unavailable. Retry a limited number of times, with backoff.',
  ],
};

export type RefusalWriter = {
  /** Returns the error responses of an operation by status, as references. */
  readonly write: (operation: Operation) => Record<string, Ref>;
  /** Returns the error responses that operations refer to, by name. */
  readonly components: () => Record<string, Response>;
};

/** Returns the error codes of an operation by status. */
export function errorCodesOf(operation: Operation): Record<string, readonly ErrorCode[]> {
  const declared = errorsOf(operation);
  const used = [...new Set(declared.map((error) => error.status))].sort((a, b) => a - b);
  return Object.fromEntries(
    used.map((status) => [
      String(status),
      declared.filter((error) => error.status === status).map((error) => error.code),
    ]),
  );
}

/** Writes one response per status, which operations share: what differs is which codes each can return. */
export function refusalWriter(writer: SchemaWriter): RefusalWriter {
  const shared = new Map<string, Response>();

  const refer = (status: number, codes: readonly ErrorCode[], message?: z.ZodType): Ref => {
    const [usual = 'Error', meaning = 'Error.'] = statuses[status] ?? [];
    const isIssued = codes.includes('secret_already_issued');
    const ending = message === undefined ? '' : 'OrMessage';
    const name = isIssued ? `${usual}OrIssued` : `${usual}${ending}`;
    if (!shared.has(name)) {
      shared.set(name, describe({ status, meaning, isIssued, message }, writer));
    }
    return { $ref: `#/components/responses/${name}` };
  };

  return {
    write: (operation) => {
      const codes = errorCodesOf(operation);
      const { responses } = operation;
      const statuses = new Set([...Object.keys(codes), ...Object.keys(responses)].map(Number));
      return Object.fromEntries(
        [...statuses]
          .filter((status) => status >= 400)
          .toSorted((a, b) => a - b)
          .map((status) => [
            String(status),
            refer(status, codes[status] ?? [], responses[status]?.schema),
          ]),
      );
    },
    components: () => Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

type SharedRefusal = {
  readonly status: number;
  readonly meaning: string;
  /** D-63: the body may be the first response without its secret. */
  readonly isIssued: boolean;
  /** The body may be a message of the protocol that the operation speaks. */
  readonly message?: z.ZodType | undefined;
};

function describe(
  { status, meaning, isIssued, message }: SharedRefusal,
  writer: SchemaWriter,
): Response {
  const saysWhen = status === 429 || status === 503;
  const general = writer.write(errorBody, 'output');
  const other = isIssued ? alreadyIssuedBody : message;
  const schema: Schema =
    other === undefined ? general : { anyOf: [writer.write(other, 'output'), general] };
  return {
    description: meaning,
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      'Cache-Control': headerRef('NoStore'),
      ...(saysWhen ? { 'Retry-After': headerRef('RetryAfter') } : {}),
    },
    content: { 'application/json': { schema, example: exampleBody(status, isIssued) } },
  };
}

function exampleBody(status: number, isIssued: boolean): Record<string, unknown> {
  const code = isIssued ? 'secret_already_issued' : firstCode(status);
  return {
    error: code,
    message: errors[code].message,
    request_id: 'req_01ja3w8z5kq4v7m2x9c6t1r8en',
    ...(isIssued
      ? {
          client: { id: exampleId('client') },
          credential: { id: exampleId('credential') },
          client_id: 'convoke-7k2m9x4c',
        }
      : {}),
  };
}

/** Returns the code of the table with this status; 412 exists only as another status of `session_terminal`. */
function firstCode(status: number): ErrorCode {
  const codes = Object.keys(errors) as ErrorCode[];
  return codes.find((code) => errors[code].status === status) ?? 'session_terminal';
}
