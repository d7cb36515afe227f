import type { Operation } from '@convoke/contract';
import type { Call } from './call.ts';
import { type Reading, readingOf } from './plain-reading.ts';

/** Renders a generated method of the SDK with the example values of the API description. */
export function plainCallOf(call: Call, operation: Operation): string {
  const client = operation.caller === 'human' ? 'admin' : 'convoke';
  const { ids, body, ...reading } = readingOf(call, operation);
  const values = Object.keys(body).length === 0 ? [] : [literal(body)];
  const given = [...ids.map(variableOf), ...values].join(', ');
  return read(`${client}.${operation.sdk?.method}(${given})`, reading);
}

/** Prints the items of a list, names a record that is read, and keeps a secret that is shown once. */
function read(call: string, { items, issued, record }: Omit<Reading, 'ids' | 'body'>): string {
  if (items !== undefined) {
    const item = items.join(', ');
    return `for await (const { ${item} } of ${call}) {\n  console.log(${item});\n}`;
  }
  if (issued !== undefined) return `const { ${issued.join(', ')} } = await ${call};`;
  return record === undefined ? `await ${call};` : `const ${record} = await ${call};`;
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
