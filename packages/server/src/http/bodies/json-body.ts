import { isUtf8 } from 'node:buffer';
import { type Json, limits } from '@convoke/contract';
import { refuse } from '../../app/refusal.ts';

/** Parses strict JSON (D-72): also refuses repeated keys, `__proto__` and deep nesting, which `JSON.parse` accepts. */
export function parseJson(bytes: Buffer): Json {
  if (!isUtf8(bytes)) refuse('invalid_json', { message: 'The body is not valid UTF-8.' });
  const text = bytes.toString();
  const value = parsed(text);
  checkKeysAndDepth(text);
  return value;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return refuse('invalid_json');
  }
}

/**
 * Scans text that is known to be JSON, so only brackets, strings and commas matter. In an object, a string after `{` or
 * `,` is a key.
 */
function checkKeysAndDepth(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let keys = 0;
  let expectsKey = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        open.push(new Set());
        expectsKey = true;
        break;
      case 0x5b: // [
        open.push(undefined);
        expectsKey = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        expectsKey = false;
        break;
      case 0x2c: // ,
        expectsKey = open.at(-1) !== undefined;
        break;
      case 0x22: {
        const end = endOfString(text, at);
        if (expectsKey) {
          noteKey(open.at(-1), text.slice(at, end));
          keys += 1;
        }
        expectsKey = false;
        at = end - 1;
        break;
      }
    }
    if (open.length > limits.bodyMaxDepth) {
      refuse('invalid_json', { message: `The body is nested deeper than ${limits.bodyMaxDepth}.` });
    }
    if (keys > limits.bodyMaxKeys) {
      refuse('invalid_json', { message: `The body has more than ${limits.bodyMaxKeys} fields.` });
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at + 1;
}

function noteKey(seen: Set<string> | undefined, literal: string): void {
  const key = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (key === '__proto__') {
    refuse('unknown_field', { message: '__proto__ cannot be a field.' });
  }
  if (seen?.has(key)) refuse('duplicate_key', { message: `The body names ${literal} twice.` });
  seen?.add(key);
}
