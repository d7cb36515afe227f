import { isUtf8 } from 'node:buffer';
import { type Json, limits } from '@convoke/contract';
import { Refusal, refuse } from '../../app/refusal.ts';
import { extentOfJson } from '../../domain/json-bounds.ts';
import { shownName } from '../../domain/preview.ts';

/**
 * Parses strict JSON (D-72): also refuses repeated keys, `__proto__`, deep nesting and too many values, which
 * `JSON.parse` accepts. The bounds are checked first, because a parser that builds a million small objects holds the
 * only thread.
 */
export function parseJson(bytes: Buffer): Json {
  if (!isUtf8(bytes)) refuse('invalid_json', { message: 'The body is not valid UTF-8.' });
  const text = bytes.toString();
  const keyRefusal = scan(text);
  const value = parsed(text);
  if (keyRefusal !== undefined) throw keyRefusal;
  return value;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return refuse('invalid_json');
  }
}

/** Keys of an open object: none, one, or several. An object with one key, by far the most common, needs no set. */
type Keys = undefined | string | Set<string>;

/**
 * Checks the bounds of text that may be JSON, without building values. Throws when one is exceeded; returns what is
 * wrong with a key, which counts only if the text turns out to be JSON.
 */
function scan(text: string): Refusal | undefined {
  /** By level. An object begins with none, and what it contains is deeper. */
  const open: Keys[] = [];
  let keys = 0;
  let wrong: Refusal | undefined;
  const { values, names } = extentOfJson(text, {
    most: limits.bodyMaxValues,
    begin: (level) => {
      if (level > limits.bodyMaxDepth) refuseTooDeep();
      open[level] = undefined;
    },
    name: (level, start, end) => {
      keys += 1;
      if (keys > limits.bodyMaxKeys) refuseTooMany('fields', limits.bodyMaxKeys);
      wrong ??= noteKey(open, level, text.slice(start, end));
    },
  });
  if (values + names > limits.bodyMaxValues) refuseTooMany(countedValues, limits.bodyMaxValues);
  return wrong;
}

const countedValues = 'values (each object, array, element and field name is one)';

function refuseTooMany(what: string, most: number): never {
  return refuse('invalid_json', { message: `The body has more than ${most} ${what}.` });
}

function refuseTooDeep(): never {
  const message = `The body is nested deeper than ${limits.bodyMaxDepth}.`;
  return refuse('invalid_json', { message });
}

/** Adds a key to those of the open object at its level, and returns what is wrong with it. */
function noteKey(open: Keys[], level: number, literal: string): Refusal | undefined {
  const key = keyOf(literal);
  const keys = open[level];
  if (key === '__proto__') {
    return new Refusal('unknown_field', { message: '__proto__ cannot be a field.' });
  }
  if (keys === key || (typeof keys === 'object' && keys.has(key))) {
    return new Refusal('duplicate_key', { message: `The body names ${shownName(literal)} twice.` });
  }
  if (keys === undefined) open[level] = key;
  else if (typeof keys === 'string') open[level] = new Set([keys, key]);
  else keys.add(key);
  return undefined;
}

function keyOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    // Not JSON, which the parser says of the whole text.
    return literal;
  }
}
