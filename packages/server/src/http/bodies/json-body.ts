import { isUtf8 } from 'node:buffer';
import { type Json, limits } from '@convoke/contract';
import { Refusal, refuse } from '../../app/refusal.ts';
import { shownName } from '../../domain/preview.ts';

/**
 * Parses strict JSON (D-72): also refuses repeated keys, `__proto__`, deep nesting and too many values, which `JSON.parse`
 * accepts. The bounds are checked first, because a parser that builds a million small objects holds the only thread.
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
/** A container whose end is still to come. */
type Open = { keys: Keys } | 'array';

/**
 * Scans text that may be JSON, once and without building values: only brackets, strings, commas and where a value starts
 * matter. In an object, a string after `{` or `,` is a key. Throws when a bound is exceeded; returns what is wrong with a
 * key, which counts only if the text turns out to be JSON.
 */
function scan(text: string): Refusal | undefined {
  const open: Open[] = [];
  let [values, keys, expectsKey] = [0, 0, false];
  let wrong: Refusal | undefined;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const start = at;
    at += 1;
    switch (code) {
      case 0x7b: // {
      case 0x5b: // [
        expectsKey = code === 0x7b;
        open.push(expectsKey ? { keys: undefined } : 'array');
        if (open.length > limits.bodyMaxDepth) refuseTooDeep();
        values += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        expectsKey = false;
        break;
      case 0x2c: // ,
        expectsKey = isObject(open.at(-1));
        break;
      case 0x22: {
        at = endOfString(text, start);
        const object = open.at(-1);
        if (expectsKey && isObject(object)) {
          keys += 1;
          if (keys > limits.bodyMaxKeys) refuseTooMany('fields', limits.bodyMaxKeys);
          wrong ??= noteKey(object, text.slice(start, at));
        }
        expectsKey = false;
        values += 1;
        break;
      }
      default:
        if (isSeparator(code)) {
          while (text.charCodeAt(at) <= 0x20) at += 1;
          break;
        }
        at = endOfScalar(text, at);
        values += 1;
    }
    if (values > limits.bodyMaxValues) refuseTooMany(countedValues, limits.bodyMaxValues);
  }
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

function isObject(container: Open | undefined): container is { keys: Keys } {
  return typeof container === 'object';
}

/** Blanks and colons. */
function isSeparator(code: number): boolean {
  return code <= 0x20 || code === 0x3a;
}

/** The index behind a number or a literal. */
function endOfScalar(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
      case 0x22:
      case 0x2c:
      case 0x3a:
      case 0x5b:
      case 0x5d:
      case 0x7b:
      case 0x7d:
        return at;
    }
  }
  return text.length;
}

/** The index behind the closing quote, or behind the text. */
function endOfString(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1);
  if (quote === -1) return text.length;
  const escape = text.slice(start + 1, quote).indexOf('\\');
  if (escape === -1) return quote + 1;
  let at = start + 1 + escape;
  while (at < text.length && text.charCodeAt(at) !== 0x22) {
    at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  }
  return Math.min(at + 1, text.length);
}

/** Adds a key to those of its object, and returns what is wrong with it. */
function noteKey(object: { keys: Keys }, literal: string): Refusal | undefined {
  const key = keyOf(literal);
  const { keys } = object;
  if (key === '__proto__') {
    return new Refusal('unknown_field', { message: '__proto__ cannot be a field.' });
  }
  if (keys === key || (typeof keys === 'object' && keys.has(key))) {
    return new Refusal('duplicate_key', { message: `The body names ${shownName(literal)} twice.` });
  }
  if (keys === undefined) object.keys = key;
  else if (typeof keys === 'string') object.keys = new Set([keys, key]);
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
