import { limits } from '@convoke/contract';
import { type Json, isObject } from './json.ts';

/** The beginning of a text in one line, for lists. */
export function previewOf(text: string, characters: number = limits.previewCharacters): string {
  // Twice as many code units hold at least as many characters.
  const line = text
    .slice(0, characters * 2)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
  if (line.length <= characters) return line;
  return Array.from(line).slice(0, characters).join('');
}

/** As much of an input's JSON text as its preview can need. */
export const inputBeginning = 4_096;

/** Members that say what a call acts on, the most telling first. */
const telling = ['path', 'file_path', 'file', 'command', 'url', 'to', 'amount', 'query', 'name'];

/**
 * What a tool call is about, in one line for a list: the member of its input that tells it, or else the beginning of
 * the input. Gets at most `inputBeginning` characters of the JSON text, because inputs may be long and a list has many;
 * a text that was cut there is shown as it begins.
 */
export function toolInputPreview(beginning: string): string | undefined {
  const input = parsed(beginning);
  if (!isObject(input)) return previewOf(beginning);
  if (Object.keys(input).length === 0) return undefined;
  for (const name of telling) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (typeof value === 'number' || (typeof value === 'string' && value !== '')) {
      return previewOf(String(value));
    }
  }
  return previewOf(beginning);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
