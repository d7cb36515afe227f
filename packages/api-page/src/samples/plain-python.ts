import type { Operation } from '@convoke/contract';
import type { Call } from './call.ts';
import { type Reading, readingOf } from './plain-reading.ts';

/** Renders a generated method of the Python client with the example values of the API description. */
export function plainPythonOf(call: Call, operation: Operation): string {
  const client = operation.caller === 'human' ? 'admin' : 'convoke';
  const { ids, body, ...reading } = readingOf(call, operation);
  const given = [
    ...ids.map((id) => (id === 'agent_name' ? '"demo"' : id)),
    ...Object.entries(body).map(([name, value]) => `${name}=${literal(value)}`),
  ];
  // A method may not be called as a statement is: the client has `try_`.
  const method = operation.sdk?.method.replace(/\.try$/, '.try_');
  return read(written(`${client}.${method}`, given), reading);
}

/** Prints the items of a list, names a record that is read, and keeps a secret that is shown once. */
function read(call: string, { items, issued, record }: Omit<Reading, 'ids' | 'body'>): string {
  const shown = (name: string, fields: readonly string[]) =>
    `print(${fields.map((field) => `${name}["${field}"]`).join(', ')})`;
  if (items !== undefined) return `for item in ${call}:\n    ${shown('item', items)}`;
  if (issued !== undefined) return `issued = ${call}\n${shown('issued', issued)}`;
  return record === undefined ? call : `${record} = ${call}`;
}

/** A call in one line, or with a line for each argument. */
function written(name: string, given: readonly string[]): string {
  const line = `${name}(${given.join(', ')})`;
  if (line.length < 88) return line;
  return `${name}(\n${given.map((one) => `    ${one},\n`).join('')})`;
}

/** Renders a JSON value as Python does. */
function literal(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `"${name}": ${literal(one)}`);
  return `{${members.join(', ')}}`;
}
