import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import {
  type ErrorCode,
  type Operation,
  headerErrors,
  isRepeatable,
  limits,
  paramErrors,
  queryErrors,
} from '@convoke/contract';
import type { z } from 'zod';
import { refuse } from '../app/refusal.ts';
import { timesSent } from '../auth/repeated-headers.ts';
import { plainIssue } from '../runtime/plain-issue.ts';
import { shownName } from '../domain/preview.ts';

/** Reads path parameters. A segment that is not an id gets 404, with the code of the missing thing (D-01). */
export function readParams(operation: Operation, raw: Readonly<Record<string, string>>) {
  const values: Record<string, unknown> = {};
  // A tenant that cannot exist has no agent either.
  const absent =
    operation.params && 'agent_name' in operation.params ? 'agent_not_found' : 'not_found';
  for (const [name, schema] of Object.entries(operation.params ?? {})) {
    const parsed = schema.safeParse(raw[name]);
    if (!parsed.success) return refuse(paramErrors[name] ?? absent);
    values[name] = parsed.data;
  }
  return values;
}

/** Reads the query in one pass, so that its cost is no more than proportional to its length. */
export function readQuery(operation: Operation, url: string): unknown {
  const mark = url.indexOf('?');
  if (mark === -1 && operation.query === undefined) return {};
  const sent = new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
  if (operation.query === undefined) {
    const [unknown] = sent.keys();
    return unknown === undefined ? {} : unknownParameter(unknown);
  }
  if (sent.size > limits.queryMaxParameters) {
    const message = `The query has more than ${limits.queryMaxParameters} parameters.`;
    return refuse('invalid_query', { message });
  }
  const raw = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of sent) {
    const earlier = raw[name];
    if (Array.isArray(earlier)) earlier.push(value);
    else if (earlier !== undefined) {
      return refuse('invalid_query', { message: `${shownName(name)} was sent twice.` });
    } else raw[name] = isRepeatable(operation.query, name) ? [value] : value;
  }
  const parsed = operation.query.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') return unknownParameter(issue.keys[0] ?? '');
  const name = String(issue?.path[0] ?? '');
  return refuse(queryErrors[name] ?? 'invalid_query', {
    message: `The query parameter ${name} is not valid: ${plainIssue(issue?.message ?? 'unknown value')}.`,
  });
}

export function readHeaders(
  operation: Operation,
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
) {
  const codes: Readonly<Record<string, ErrorCode>> = headerErrors;
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(operation.headers ?? {})) {
    const code = codes[name];
    if (code !== undefined && timesSent(rawHeaders, name) > 1) return refuse(code);
    const parsed = schema.safeParse(textOf(headers[name]));
    if (!parsed.success) return refuse(code ?? 'invalid_body');
    values[name] = parsed.data;
  }
  return values;
}

/** Node reads each byte of a header as one character (Latin-1); bytes that are UTF-8 are read as such. */
function textOf(value: string | string[] | undefined): string | string[] | undefined {
  if (typeof value !== 'string') return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}

/** D-72: the refusal names the invalid field, and unknown fields have a code of their own. */
export function validateBody(body: BodySchema, value: unknown): unknown {
  refuseLongArrays(body.arrays, value);
  const parsed = body.schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = deepest(parsed.error.issues);
  const path = pathText(issue?.path ?? []);
  if (issue?.code === 'unrecognized_keys') {
    const name = pathText([...issue.path, issue.keys[0] ?? '']);
    return refuse('unknown_field', { message: `${name} is not a field of this request.` });
  }
  const where = path === '' ? 'The body' : path;
  return refuse('invalid_body', {
    message: `${where}: ${plainIssue(issue?.message ?? 'is not valid')}.`,
  });
}

/** The schema of an operation's body, and its fields that are arrays with their bounds. */
export interface BodySchema {
  readonly schema: z.ZodType;
  readonly arrays: ReadonlyMap<string, number>;
}

function refuseLongArrays(arrays: BodySchema['arrays'], value: unknown): void {
  if (arrays.size === 0 || typeof value !== 'object' || value === null) return;
  for (const [name, most] of arrays) {
    const sent: unknown = Reflect.get(value, name);
    if (!Array.isArray(sent) || sent.length <= most) continue;
    refuse('invalid_body', { message: `${name}: must have at most ${most} elements.` });
  }
}

/** Picks the alternative of a union that matched furthest: most likely the one the caller meant. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const [nearest = []] = issue.errors.toSorted(
    (a, b) => (b[0]?.path.length ?? 0) - (a[0]?.path.length ?? 0),
  );
  const found = deepest(nearest);
  // Where all alternatives fail at once, a union that has words of its own says what it takes.
  const isNamed = found?.path.length === 0 && issue.message !== unionMessage;
  if (found === undefined || isNamed) return issue;
  return { ...found, path: [...issue.path, ...found.path] };
}

/** What zod says of a union without words of its own. */
const unionMessage = 'Invalid input';

function unknownParameter(name: string): never {
  return refuse('unknown_query_parameter', {
    message: `${shownName(name)} is not a query parameter of this operation.`,
  });
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number'
        ? `[${part}]`
        : `${index === 0 ? '' : '.'}${shownName(String(part))}`,
    )
    .join('');
}
