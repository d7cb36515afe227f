// Reads values from JSON whose shape is under test.
import { ensure, excerpt, isRecord } from './failure.ts';

/** The value at a path such as `tenant.tenant_id`; the whole value for an empty path. */
export function at(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path
    .split('.')
    .reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), value);
}

export function textAt(value: unknown, path: string): string {
  const found = at(value, path);
  ensure(
    typeof found === 'string' && found !== '',
    `${path} is to be a non-empty string in ${excerpt(value)}`,
  );
  return found;
}

export function booleanAt(value: unknown, path: string): boolean {
  const found = at(value, path);
  ensure(typeof found === 'boolean', `${path} is to be a boolean in ${excerpt(value)}`);
  return found;
}

export function integerAt(value: unknown, path: string): number {
  const found = at(value, path);
  ensure(Number.isInteger(found), `${path} is to be an integer in ${excerpt(value)}`);
  return Number(found);
}

export function listAt(value: unknown, path: string): readonly unknown[] {
  const found = at(value, path);
  ensure(Array.isArray(found), `${path} is to be an array in ${excerpt(value)}`);
  return found as readonly unknown[];
}

/** Whether a member of that name is anywhere in the value. */
export function hasMember(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return value.some((item) => hasMember(item, name));
  if (!isRecord(value)) return false;
  return Object.hasOwn(value, name) || Object.values(value).some((part) => hasMember(part, name));
}

/** `2026-01-15T09:30:00.123Z`: RFC 3339 in UTC. */
const timePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]00:00)$/;

export function timeAt(value: unknown, path: string): number {
  const found = textAt(value, path);
  ensure(timePattern.test(found), `${path} is to be RFC 3339 in UTC, got ${excerpt(found)}`);
  return Date.parse(found);
}

/** Replaces `{name}` in every text of a template. */
export function fill(template: unknown, values: Readonly<Record<string, string>>): unknown {
  if (typeof template === 'string') {
    return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  }
  if (Array.isArray(template)) return template.map((item) => fill(item, values));
  if (!isRecord(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, item]) => [name, fill(item, values)]),
  );
}
