import type { Json, JsonObject } from '@convoke/contract';

export type { Json, JsonObject };

/** RFC 8785: one text per value, members sorted by code unit, no spaces, so that equal values have equal digests. */
export function canonicalJson(value: Json): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  let members = '';
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

export interface JsonBounds {
  readonly charactersMax: number;
  readonly depthMax: number;
}

/**
 * Counts the characters of the texts and member names of a value, and a few for each value. Stops at the bounds, so
 * that a value of any size or depth costs no more than they allow.
 */
export function measureJson(value: Json, bounds: JsonBounds): number | 'too long' | 'too deep' {
  const { charactersMax, depthMax } = bounds;
  let characters = 0;
  const measure = (each: Json | undefined, depth: number): 'too long' | 'too deep' | undefined => {
    characters += valueCharacters + (typeof each === 'string' ? each.length : 0);
    if (characters > charactersMax) return 'too long';
    if (typeof each !== 'object' || each === null) return undefined;
    if (depth === depthMax) return 'too deep';
    if (!isArray(each)) for (const name of Object.keys(each)) characters += name.length;
    for (const member of isArray(each) ? each : Object.values(each)) {
      const problem = measure(member, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return measure(value, 0) ?? characters;
}

/** About what the quotes, brackets and comma of a value take, or a short number. */
const valueCharacters = 4;

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
