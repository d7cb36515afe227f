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
  const left = leftAfter(value, charactersMax, depthMax);
  if (Number.isNaN(left)) return 'too deep';
  return left < 0 ? 'too long' : charactersMax - left;
}

/** How many characters are left behind the value: negative when it is too long, NaN when it has more levels. */
function leftAfter(value: Json | undefined, left: number, levels: number): number {
  let rest = left - valueCharacters - (typeof value === 'string' ? value.length : 0);
  if (typeof value !== 'object' || value === null || rest < 0) return rest;
  if (levels === 0) return Number.NaN;
  if (isArray(value)) {
    for (const member of value) {
      rest = leftAfter(member, rest, levels - 1);
      if (!(rest >= 0)) return rest;
    }
    return rest;
  }
  for (const name of Object.keys(value)) {
    rest = leftAfter(value[name], rest - name.length, levels - 1);
    if (!(rest >= 0)) return rest;
  }
  return rest;
}

/** About what the quotes, brackets and comma of a value take, or a short number. */
const valueCharacters = 4;

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
