import { isDeepStrictEqual } from 'node:util';
import {
  type Method,
  type Operation,
  type OperationId,
  type OperationResult,
  type Operations,
  errorBody,
  errorsOf,
  operationList,
  operations,
} from '@convoke/contract';
import { observe } from './coverage/journal.ts';

/** A caller as headers: a token and, for the application API, the selectors. */
export type Identity = Readonly<Record<string, string>>;

export const anonymous: Identity = {};

export interface CallOptions {
  readonly as?: Identity;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, unless it is text or bytes already. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
}

export interface Refused {
  readonly status: number;
  readonly error: string;
  readonly message: string | undefined;
  readonly headers: Headers;
  readonly text: string;
  /** The whole body, with the members that only some refusals have. */
  readonly body: unknown;
}

/** The response of one operation, with the body that its contract declares for that status. */
export type Result<Id extends OperationId> = OperationResult<Operations[Id]> & {
  readonly headers: Headers;
  readonly text: string;
};

export interface OperationCall extends CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>> | string;
}

/** Calls to one server. Every response is checked against the contract and recorded for coverage. */
export class CheckedCalls {
  readonly #baseUrl: string;
  readonly #usual: (operation: Operation) => Identity;

  constructor(baseUrl: string, usual: (operation: Operation) => Identity) {
    this.#baseUrl = baseUrl;
    this.#usual = usual;
  }

  /** Sends any request. Without `as` it comes from the kind of caller the operation is for. */
  async call(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    const operation = operationAt(method, path);
    const response = await this.fetch(method, path, options);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const { status, headers } = response;
    const answer = { status, headers, bytes, text: Buffer.from(bytes).toString() };
    checkAnswer(operation, answer);
    return answer;
  }

  /** Like `call`, but with the body unread: for streams. */
  async fetch(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
    const operation = operationAt(method, path);
    const identity = options.as ?? (operation === undefined ? anonymous : this.#usual(operation));
    const { body, type } = encode(options.body);
    return fetch(this.#baseUrl + path, {
      method,
      headers: { ...type, ...identity, ...options.headers },
      ...(body === undefined || body === null ? {} : { body }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  }

  /** A declared operation that is expected to be refused, by its code. */
  async refused(id: OperationId, call: OperationCall = {}): Promise<Refused> {
    const { method } = operations[id];
    const { status, headers, text } = await this.call(method, pathOf(id, call), call);
    if (status < 400) throw new Error(`${id} was not refused but answered ${status}: ${text}`);
    const { error, message } = errorBody.parse(JSON.parse(text));
    return { status, error, message, headers, text, body: JSON.parse(text) };
  }

  /** A declared operation that is expected to succeed. */
  async send<Id extends OperationId>(id: Id, call: OperationCall = {}): Promise<Result<Id>> {
    const operation: Operation = operations[id];
    const path = pathOf(id, call);
    const { status, headers, text } = await this.call(operation.method, path, call);
    if (status >= 400) throw new Error(`${operation.method} ${path} answered ${status}: ${text}`);
    const { schema } = operation.responses[status] ?? {};
    const body = schema === undefined || text === '' ? undefined : schema.parse(JSON.parse(text));
    // The schema of this very status has just read the body: that is the type.
    return { status, body, headers, text } as Result<Id>;
  }
}

/** The path of an operation with its parameters and query in place. */
export function pathOf(id: OperationId, { params = {}, query = {} }: OperationCall = {}): string {
  const path = operations[id].path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${id} needs the parameter ${name}`);
    return encodeURIComponent(value);
  });
  const text = typeof query === 'string' ? query : new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Which declared operation a request is for, or undefined when it is for none. */
export function operationAt(method: string, path: string): Operation | undefined {
  const [route = ''] = path.split('?');
  return operationList.find(
    (operation) => operation.method === method && matches(operation, route),
  );
}

function matches({ path }: Operation, route: string): boolean {
  const pattern = path.replace(/[.:]/g, '\\$&').replace(/\{\w+\}/g, '([^/:]+)');
  return new RegExp(`^${pattern}$`).test(route);
}

/**
 * D-70 and the contract, for every single answer of every test: the status is declared, a body has
 * exactly the declared fields, a refusal is JSON with a code declared for this status and carries the
 * request's id.
 */
export function checkAnswer(operation: Operation | undefined, answer: Answer): void {
  const { status, headers, text } = answer;
  const isRefusal = status >= 400 && !isProtocolError(operation, answer);
  const problems = [
    ...headerProblems(headers),
    ...(isRefusal ? refusalProblems(operation, answer) : successProblems(operation, answer)),
  ];
  if (problems.length === 0) return;
  const where = `${operation?.id ?? 'no operation'} answered ${status} ${text.slice(0, 300)}`;
  throw new Error(`${where}\n${problems.join('\n')}`);
}

/** What is wrong with a message of JSON-RPC is said in that protocol, with a status that the operation declares. */
function isProtocolError(operation: Operation | undefined, { status, text }: Answer): boolean {
  return operation?.responses[status] !== undefined && text.startsWith('{"jsonrpc"');
}

function headerProblems(headers: Headers): string[] {
  const problems: string[] = [];
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(headers.get('x-request-id') ?? '')) {
    problems.push('X-Request-Id is missing');
  }
  if (headers.get('x-content-type-options') !== 'nosniff') {
    problems.push('X-Content-Type-Options is missing');
  }
  return problems;
}

function refusalProblems(operation: Operation | undefined, answer: Answer): string[] {
  const { status, headers, text } = answer;
  if (headers.get('content-type') !== json) return [`its type is ${headers.get('content-type')}`];
  const parsed = errorBody.safeParse(JSON.parse(text));
  if (!parsed.success) return [`its body is not an error: ${parsed.error.message}`];
  const { error: code, request_id } = parsed.data;
  const problems: string[] = [];
  if (!/^[a-z][a-z0-9_]*$/.test(code)) problems.push(`${code} is not a code`);
  if (request_id !== headers.get('x-request-id')) problems.push('request_id is another one');
  if (operation === undefined) return problems;
  observe({ operation: operation.id, status, code });
  if (!errorsOf(operation).some((error) => error.code === code && error.status === status)) {
    problems.push(`${operation.id} does not declare ${status} ${code}`);
  }
  return problems;
}

function successProblems(operation: Operation | undefined, answer: Answer): string[] {
  const { status, headers, text } = answer;
  const response = operation?.responses[status];
  if (operation === undefined || response === undefined) return ['the status is not declared'];
  observe({ operation: operation.id, status, code: undefined });
  if (response.schema === undefined || headers.get('content-type') !== json) return [];
  const value: unknown = JSON.parse(text);
  const parsed = response.schema.safeParse(value);
  if (!parsed.success) return [parsed.error.message];
  return isDeepStrictEqual(parsed.data, value) ? [] : ['it sends undeclared fields'];
}

const json = 'application/json; charset=utf-8';

function encode(body: unknown): {
  body: RequestInit['body'] | undefined;
  type: Record<string, string>;
} {
  if (body === undefined) return { body: undefined, type: {} };
  if (typeof body === 'string' || body instanceof Uint8Array) return { body, type: {} };
  return { body: JSON.stringify(body), type: { 'content-type': 'application/json' } };
}
