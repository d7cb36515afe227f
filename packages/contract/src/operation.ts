import type { z } from 'zod';
import { type ErrorCode, errors } from './errors.ts';
import type { Scope } from './scopes.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The callers of an operation. `automation`: an automation client, or a person with a token for the tenant (D-154),
 * with selector headers. `human`: an owner or admin. `any`: either of them, without selectors. `anonymous`: no token.
 */
export type CallerKind = 'automation' | 'human' | 'any' | 'anonymous';

/** Marks an operation that needs no scope, with the reason (D-54). */
export type NoScope = { readonly unscoped: string };

export type Tag =
  | 'Workspaces'
  | 'Agents'
  | 'Sessions'
  | 'Runs'
  | 'Feedback'
  | 'Interactions'
  | 'Files'
  | 'Faces'
  | 'Feed'
  | 'Schedules'
  | 'Webhooks'
  | 'Connections'
  | 'Automation clients'
  | 'Credentials'
  | 'Tenants'
  | 'Organizations'
  | 'Usage'
  | 'Tokens'
  | 'System';

/** An error code of the operation, with a status if it differs from the table. */
export type OperationError = ErrorCode | { readonly code: ErrorCode; readonly status: number };

export type OperationResponse = {
  readonly description: string;
  /** The JSON body. A response with none of `schema`, `stream` and `media` is empty. */
  readonly schema?: z.ZodType;
  /** One event of the `text/event-stream` body. */
  readonly stream?: z.ZodType;
  /** The media type of a body that is neither JSON nor events. */
  readonly media?: string;
  /** Headers worth knowing, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** What one network may ask for; the burst is available at once. */
export type NetworkRate = { readonly perMinute: number; readonly burst: number };

/** The method of the SDK that is generated for an operation, such as `schedules.pause`. */
export type SdkMethod = {
  readonly method: `${string}.${string}`;
  /** Set for a POST that may be sent again when its response was lost: it has the same effect twice as once. */
  readonly repeatable?: true;
};

export type Operation = {
  readonly id: string;
  /** Absent where a method is written by hand, or where programs do not call the operation. */
  readonly sdk?: SdkMethod;
  readonly method: Method;
  readonly path: `/${string}`;
  /** The path with a slash at its end is the same. */
  readonly endsInSlash?: 'too';
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly caller: CallerKind;
  /** The caller needs all of the scopes. */
  readonly scope: Scope | readonly Scope[] | NoScope;
  /**
   * Narrows `automation` to clients, or `any` to people; `sign-in` also excludes a person's token of one tenant. Others
   * are refused before the request is read (D-52).
   */
  readonly only?: 'clients' | 'people' | 'sign-in';
  /**
   * Where it stands, people enter with a token of this face, which opens nothing else (D-623). Clients enter with their
   * own tokens.
   */
  readonly face?: 'mcp';
  /**
   * For `automation` only: the path selects the organization and the tenant, for clients that cannot send our headers
   * (D-234).
   */
  readonly selectors?: 'path';
  /** By name in the path. A value that does not match means that the resource does not exist (D-01). */
  readonly params?: Readonly<Record<string, z.ZodType>>;
  /** A strict object; an operation without it accepts no query parameters (D-71). */
  readonly query?: z.ZodObject;
  /** By lower-case name. */
  readonly headers?: Readonly<Record<string, z.ZodType>>;
  /**
   * Encoding of the body; `json` when only `body` is given. What is wrong with one of `json-rpc` is said in that
   * protocol.
   */
  readonly content?: 'json' | 'form' | 'bytes' | 'json-rpc';
  /** A strict object. An absent optional body is parsed as `{}`. */
  readonly body?: z.ZodType;
  readonly bodyRequired?: boolean;
  /** The value of an absent body, if it is not `{}`. */
  readonly absentBody?: null;
  /** The largest JSON body, if it is not `limits.bodyMaxBytes`. */
  readonly maxBytes?: number;
  /**
   * For `anonymous` operations that take a body (D-460): requests of one network, counted before the body is read. A
   * stranger can send them, so nothing else bounds the work that they cause.
   */
  readonly networkRate?: NetworkRate;
  /** Schema for the API description, where the exact shape depends on state of the server. */
  readonly documentedBody?: z.ZodType;
  readonly responses: Readonly<Record<number, OperationResponse>>;
  /** In addition to the codes that `errorsOf` adds to every operation of its kind. */
  readonly errors: readonly OperationError[];
};

/** Keeps the literal types, from which the server derives its handler types. */
export function defineOperation<const O extends Operation>(operation: O): O {
  return operation;
}

/** Declares a code with a status other than the one in the table. */
export function withStatus<const S extends number, const C extends ErrorCode>(status: S, code: C) {
  return { code, status } as const;
}

type Inferred<R> = { readonly [K in keyof R]: R[K] extends z.ZodType ? z.infer<R[K]> : never };
type Nothing = Readonly<Record<never, never>>;

/** Parsed input of the operation's handler. */
export type OperationInput<O extends Operation> = {
  readonly params: O extends { readonly params: infer P } ? Inferred<P> : Nothing;
  readonly query: O extends { readonly query: infer Q extends z.ZodType } ? z.infer<Q> : Nothing;
  readonly headers: O extends { readonly headers: infer H } ? Inferred<H> : Nothing;
  readonly body: O extends { readonly body: infer B extends z.ZodType } ? z.infer<B> : undefined;
};

/** Result of the operation's handler: one member per declared status, with the body of that status. */
export type OperationResult<O extends Operation> = {
  [S in keyof O['responses'] & number]: {
    readonly status: S;
    readonly body: O['responses'][S] extends { readonly schema: infer B extends z.ZodType }
      ? z.infer<B>
      : undefined;
  };
}[keyof O['responses'] & number];

export type DeclaredError = { readonly code: ErrorCode; readonly status: number };

/** Error codes of path parameters that do not match; a parameter not listed gets `not_found`. */
export const paramErrors: Readonly<Record<string, ErrorCode>> = { agent_name: 'agent_not_found' };

export function requiredScopes(operation: Operation): readonly Scope[] {
  const { scope } = operation;
  if (typeof scope === 'string') return [scope];
  return isNoScope(scope) ? [] : scope;
}

function isNoScope(scope: readonly Scope[] | NoScope): scope is NoScope {
  return 'unscoped' in scope;
}

/**
 * D-198: whether a token for one session opens the operation: `whoami`, and everything whose path names a session.
 * Which session that is, and whether the token has the scopes, is decided for each request.
 */
export function isOpenToSessionTokens({ id, caller, path }: Operation): boolean {
  if (caller !== 'automation') return false;
  return id === 'whoami' || pathParams(path).includes('session_id');
}

/** Names of the path parameters, in path order. */
export function pathParams(path: string): string[] {
  return Array.from(path.matchAll(/\{([a-z_]+)\}/g), (match) => match[1] ?? '');
}

/** Returns every error of the operation in the order of the checks (D-52), its own codes last. */
export function errorsOf(operation: Operation): readonly DeclaredError[] {
  const declared = new Map<string, DeclaredError>();
  const all = [...commonErrors(operation), ...operation.errors];
  for (const entry of all) {
    const error = typeof entry === 'string' ? { code: entry, status: errors[entry].status } : entry;
    declared.set(`${error.status} ${error.code}`, error);
  }
  return [...declared.values()];
}

/** Returns the status of a code in this operation. */
export function statusOfError(operation: Operation, code: ErrorCode): number {
  for (const entry of operation.errors) {
    if (typeof entry !== 'string' && entry.code === code) return entry.status;
  }
  return errors[code].status;
}

/** Returns every declared status, successes and errors, ascending. */
export function statusesOf(operation: Operation): readonly number[] {
  const successes = Object.keys(operation.responses).map(Number);
  const refusals = errorsOf(operation).map((error) => error.status);
  return [...new Set([...successes, ...refusals])].sort((a, b) => a - b);
}

function commonErrors(operation: Operation): readonly ErrorCode[] {
  if (operation.caller === 'anonymous') {
    return ['unknown_query_parameter', ...bodyErrors(operation), 'internal'];
  }
  return [
    ...gateErrors(operation),
    ...shapeErrors(operation),
    ...absences(operation),
    'storage_unavailable',
    'internal',
  ];
}

/** An unknown organization in the path is a 403 like one without access, so that callers cannot probe for ids. */
function absences(operation: Operation): readonly ErrorCode[] {
  const isSelector = (name: string) =>
    name === 'organization_id' || (operation.selectors === 'path' && name === 'tenant_id');
  const names = pathParams(operation.path).filter((name) => !isSelector(name));
  return names.map((name) => paramErrors[name] ?? 'not_found');
}

function gateErrors(operation: Operation): readonly ErrorCode[] {
  const gate: ErrorCode[] = ['unauthorized', 'identity_unavailable'];
  if (operation.caller === 'automation') {
    if (operation.selectors !== 'path') gate.push('missing_selector');
    gate.push('invalid_selector');
  }
  gate.push('forbidden');
  if (requiredScopes(operation).length > 0) gate.push('insufficient_scope');
  // D-68: management is limited in its mutations, the application API in every call.
  if (operation.caller !== 'human' || operation.method !== 'GET') gate.push('rate_limited');
  return gate;
}

function shapeErrors(operation: Operation): readonly ErrorCode[] {
  const shape: ErrorCode[] = ['unknown_query_parameter'];
  if (operation.query) shape.push('invalid_query');
  if (operation.query && 'cursor' in operation.query.shape) shape.push('invalid_cursor');
  if (operation.query && 'status' in operation.query.shape) shape.push('invalid_status');
  if (operation.query && 'label' in operation.query.shape) shape.push('invalid_label');
  if (operation.headers && 'idempotency-key' in operation.headers) {
    shape.push('invalid_idempotency_key');
  }
  return [...shape, ...bodyErrors(operation)];
}

function bodyErrors({ body, content }: Operation): readonly ErrorCode[] {
  switch (content) {
    // The token endpoint declares the errors of its form itself (RFC 6749 section 5.2).
    case 'form':
      return [];
    // Uploaded bytes are stored as received; a content encoding is not decoded.
    case 'bytes':
      return ['unsupported_media_type'];
    case 'json-rpc':
      return ['body_too_large', 'unsupported_media_type'];
    case 'json':
    case undefined:
      return body === undefined ? ['invalid_body'] : jsonErrors;
    default:
      return content satisfies never;
  }
}

const jsonErrors = [
  'invalid_json',
  'invalid_body',
  'unknown_field',
  'duplicate_key',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** For operations of people who manage an organization. */
export const byRole = {
  unscoped: 'Owners and admins are authorized by their role, not by scopes.',
} as const;
