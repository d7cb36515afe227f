import type { Operation } from '@convoke/contract';
import type { Call } from './call.ts';

/** Renders a generated method of the SDK with the example values of the API description. */
export function plainCallOf({ operation: described, path }: Call, operation: Operation): string {
  const client = operation.caller === 'human' ? 'admin' : 'convoke';
  const name = `${client}.${operation.sdk?.method}`;
  const ids = Array.from(path.matchAll(/\{(\w+)\}/g), ([, id = '']) => id).filter(
    (id) => id !== 'organization_id',
  );
  const given = [...ids.map(variableOf), ...bodyOf(described.requestBody?.content)];
  const call = `${name}(${given.join(', ')})`;
  return read(call, operation);
}

/** Prints the items of a list, names a record that is read, and keeps what is shown only once. */
function read(call: string, operation: Operation): string {
  const fields = shapeOf(
    [201, 200, 202].flatMap((status) => operation.responses[status]?.schema ?? [])[0],
  );
  const names = Object.keys(fields);
  if ('next_cursor' in fields) {
    const item = shownOf(Object.values(fields)).join(', ');
    return `for await (const { ${item} } of ${call}) {\n  console.log(${item});\n}`;
  }
  const issued = names.some((name) => /(^|_)secret$/.test(name)) ? names.slice(-2) : [];
  if (issued.length > 0) return `const { ${issued.join(', ')} } = await ${call};`;
  if (operation.method !== 'GET') return `await ${call};`;
  const [noun = '', method = ''] = operation.sdk?.method.split('.') ?? [];
  return `const ${method === 'get' ? noun.replace(/s$/, '') : method} = await ${call};`;
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

function bodyOf(content: Content = {}): string[] {
  const example = content['application/json']?.example;
  if (typeof example !== 'object' || example === null) return [];
  const { idempotency_key: _key, ...body } = example as Record<string, unknown>;
  return Object.keys(body).length === 0 ? [] : [literal(body)];
}

/** `agent_name` is written as a name, every other id as a variable of the program. */
function variableOf(id: string): string {
  if (id === 'agent_name') return "'demo'";
  return id.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Renders a JSON value as JavaScript does. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') {
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, indent)).join(', ')}]`;
  const inner = `${indent}  `;
  const members = Object.entries(value).map(([name, one]) => `${name}: ${literal(one, inner)}`);
  const line = `{ ${members.join(', ')} }`;
  if (line.length + indent.length < 70) return line;
  return `{\n${members.map((member) => `${inner}${member},\n`).join('')}${indent}}`;
}
