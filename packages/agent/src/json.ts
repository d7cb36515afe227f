/** Values that survive a restart: the stored value is equal to the one that the agent had. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

/** Many parsers allow 128 levels, and the value is stored inside other objects. */
const depthMax = 100;

/** Thrown for a value that JSON cannot represent. The message has the path of the value and what to do. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
}

/**
 * Returns the JSON of a value; undefined for undefined. Refuses values that `JSON.stringify` would silently change,
 * such as a Date: the agent would get a different value after a restart (D-163).
 */
export function jsonText(value: unknown, path: string): string | undefined {
  if (value === undefined) return undefined;
  check(value, { path, above: [] });
  return JSON.stringify(value);
}

/** Returns a deep copy, as it is after it was stored. */
export function jsonCopy(value: unknown, path: string): unknown {
  const text = jsonText(value, path);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

interface Where {
  readonly path: string;
  /** The objects that contain the value. */
  readonly above: readonly object[];
}

function check(value: unknown, { path, above }: Where): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return;
    throw new NotJson(`${path} is ${value}, ${notInJson}. ${verbAt(path)} null or a string.`);
  }
  if (typeof value !== 'object') {
    const remedy = remedies[typeof value];
    const advice = remedy === undefined ? 'Leave it out' : `${verbAt(path)} ${remedy}`;
    throw new NotJson(`${path} is ${shownKind(typeof value)}, ${notInJson}. ${advice}.`);
  }
  if (above.includes(value)) throw new NotJson(`${path} contains itself, ${notInJson}.`);
  if (above.length >= depthMax)
    throw new NotJson(`${path.slice(0, 80)} is nested more than ${depthMax} levels deep.`);
  const inside = [...above, value];
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      check(value[index], { path: `${path}[${index}]`, above: inside });
    }
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    const kind = nameOf(value);
    throw new NotJson(
      `${path} is ${shownKind(kind)}, ${notInJson}. ${verbAt(path)} ${remedies[kind] ?? 'a plain object'}.`,
    );
  }
  for (const [name, member] of Object.entries(value)) {
    // As in JSON, a member that is undefined is left out.
    if (member !== undefined) check(member, { path: `${path}.${name}`, above: inside });
  }
}

/** The author returns a result, and passes anything else to `ctx`. */
function verbAt(path: string): string {
  return /^result\b/.test(path) ? 'Return' : 'Use';
}

const notInJson = 'which JSON cannot represent';

function shownKind(kind: string): string {
  return kind === 'undefined' ? kind : `a ${kind}`;
}

const remedies: Readonly<Record<string, string>> = {
  bigint: 'a string',
  undefined: 'null',
  Date: 'a string',
  Map: 'an object',
  Set: 'an array',
  URL: 'a string',
  Uint8Array: 'a string, or write a file and return its name',
  Buffer: 'a string, or write a file and return its name',
};

function nameOf(value: object): string {
  const { constructor } = value as { constructor?: unknown };
  return typeof constructor === 'function' && constructor.name !== ''
    ? constructor.name
    : 'class instance';
}
