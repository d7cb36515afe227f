import { type Json, measureJson } from '../domain/json.ts';

const shownCharactersMax = 16 * 1024;

/** A value as an event shows it: as it is, or the beginning of its text. Inputs and results of tools may be long. */
export function shownValue(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= shownCharactersMax
    ? value
    : `${text.slice(0, shownCharactersMax).toWellFormed()}…`;
}

const depthMax = 128;

/**
 * Whether a value that an agent sent has at most this many characters as JSON. Measured first, which stops at the
 * bounds: writing a value as JSON takes as long as it is large, and fails for one that is nested deeply.
 */
export function isShort(value: Json, charactersMax: number): boolean {
  const size = measureJson(value, { charactersMax: 4 * charactersMax, depthMax });
  return typeof size === 'number' && JSON.stringify(value).length <= charactersMax;
}
