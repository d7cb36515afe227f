import type { ErrorCode } from '../errors.ts';
import { type DeclaredError, errorsOf, type Operation } from '../operation.ts';
import { alreadyIssuedBody, errorBody } from '../resources/error.ts';
import type { Ref, Response, Schema } from './document.ts';
import { commonHeaders, headerRef } from './headers.ts';
import type { SchemaWriter } from './schemas.ts';

/** Spec §7: meaning of each error status for the caller. */
const statusMeanings: Readonly<Record<number, string>> = {
  400: 'The request is invalid. Do not retry it unchanged.',
  401: 'The credentials are missing, expired or wrong.',
  403: 'The caller is not allowed to do this.',
  404: 'The resource does not exist in the selected tenant, or the capability is not available.',
  406: 'The response is not available in the accepted media types.',
  409: 'The request conflicts with the current state. Read the state before you retry.',
  412: 'The key refers to a session that has ended. Use a new key for a new session.',
  413: 'The body is too large.',
  415: 'The media type of the body is not supported.',
  416: 'The range is outside the file.',
  429: 'Too many requests. Wait for the time in Retry-After, with backoff and jitter.',
  500: 'Internal server error. Retry a limited number of times, with backoff.',
  503: 'Temporarily unavailable. Retry a limited number of times, with backoff.',
};

export type RefusalWriter = {
  /** Returns the error responses of an operation by status. */
  readonly write: (operation: Operation) => Record<string, Response | Ref>;
  /** Returns the error responses that operations share, by name. */
  readonly components: () => Record<string, Response>;
};

type Refusal = { readonly status: number; readonly codes: readonly ErrorCode[] };

export function refusalWriter(writer: SchemaWriter): RefusalWriter {
  const shared = new Map<string, Response>();

  const refer = (operation: Operation, refusal: Refusal): Response | Ref => {
    const response = describe(operation, refusal, writer);
    const name = sharedName(operation, refusal);
    if (name === undefined) return response;
    shared.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  };

  return {
    write: (operation) => {
      const refusals = byStatus(errorsOf(operation));
      return Object.fromEntries(
        refusals.map((refusal) => [String(refusal.status), refer(operation, refusal)]),
      );
    },
    components: () => Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Names a response that operations can share: one with a single code. Only its cache header differs. */
function sharedName(operation: Operation, { status, codes }: Refusal): string | undefined {
  const [code, ...others] = codes;
  if (code === undefined || others.length > 0 || code === 'session_terminal') return undefined;
  const name = code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return operation.caller === 'human' ? `${name}${status}NoStore` : `${name}${status}`;
}

function describe(
  operation: Operation,
  { status, codes }: Refusal,
  writer: SchemaWriter,
): Response {
  const saysWhen = status === 429 || status === 503;
  return {
    description: statusMeanings[status] ?? 'Error.',
    headers: {
      ...commonHeaders(operation),
      ...(saysWhen ? { 'Retry-After': headerRef('RetryAfter') } : {}),
    },
    content: { 'application/json': { schema: body(codes, writer) } },
    'x-error-codes': codes,
  };
}

function body(codes: readonly ErrorCode[], writer: SchemaWriter): Schema {
  const general = writer.write(errorBody, 'output');
  const others = codes.filter((code) => code !== 'secret_already_issued');
  if (others.length === codes.length) return withCodes(general, codes);
  const issued = withCodes(writer.write(alreadyIssuedBody, 'output'), ['secret_already_issued']);
  return { oneOf: [withCodes(general, others), issued] };
}

function withCodes(base: Schema, codes: readonly ErrorCode[]): Schema {
  return { allOf: [base, { type: 'object', properties: { error: { enum: [...codes] } } }] };
}

function byStatus(declared: readonly DeclaredError[]): Refusal[] {
  const statuses = [...new Set(declared.map((error) => error.status))].sort((a, b) => a - b);
  return statuses.map((status) => ({
    status,
    codes: declared.filter((error) => error.status === status).map((error) => error.code),
  }));
}
