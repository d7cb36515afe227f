import type { Operation } from '@convoke/contract';
import type { Call } from './call.ts';

/** The arguments of an example of a generated method, and its use of the result. */
export interface Reading {
  /** Names of the ids in the path, without the organization's, which the client knows. */
  readonly ids: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  /** The first fields of the items of a list. */
  readonly items?: readonly string[];
  /** Fields that are shown only once. */
  readonly issued?: readonly string[];
  /** A name for a record that is read. */
  readonly record?: string;
}

export function readingOf({ operation: described, path }: Call, operation: Operation): Reading {
  const ids = Array.from(path.matchAll(/\{(\w+)\}/g), ([, id = '']) => id);
  const fields = shapeOf(
    [201, 200, 202].flatMap((status) => operation.responses[status]?.schema ?? [])[0],
  );
  const given = {
    ids: ids.filter((id) => id !== 'organization_id'),
    body: bodyOf(described.requestBody?.content),
  };
  const isList = operation.method === 'GET' && 'next_cursor' in fields;
  if (isList) return { ...given, items: shownOf(Object.values(fields)) };
  const names = Object.keys(fields);
  if (names.some((name) => /(^|_)secret$/.test(name))) return { ...given, issued: names.slice(-2) };
  if (operation.method !== 'GET') return given;
  const [noun = '', method = ''] = operation.sdk?.method.split('.') ?? [];
  return { ...given, record: method === 'get' ? noun.replace(/s$/, '') : method };
}

/** The first fields of the items, without the ids that all of them share. */
function shownOf(fields: readonly unknown[]): string[] {
  const list = fields.find(
    (field) => typeof field === 'object' && field !== null && 'element' in field,
  );
  const names = Object.keys(shapeOf(list?.element));
  return names
    .filter((name) => !/^(organization|tenant|session|run|webhook)_id$/.test(name))
    .slice(0, 2);
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof schema === 'object' && schema !== null && 'shape' in schema;
  return isObject ? (schema.shape as Readonly<Record<string, unknown>>) : {};
}

type Content = Readonly<Record<string, { readonly example?: unknown }>>;

function bodyOf(content: Content = {}): Readonly<Record<string, unknown>> {
  const example = content['application/json']?.example;
  if (typeof example !== 'object' || example === null) return {};
  const { idempotency_key: _key, ...body } = example as Record<string, unknown>;
  return body;
}
