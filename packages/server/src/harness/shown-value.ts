import type { Json } from '../domain/json.ts';

const shownCharactersMax = 16 * 1024;

/** A value as an event shows it: as it is, or the beginning of its text. Inputs and results of tools may be long. */
export function shownValue(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= shownCharactersMax
    ? value
    : `${text.slice(0, shownCharactersMax).toWellFormed()}…`;
}
