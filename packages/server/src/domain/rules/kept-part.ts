import { type Json, type JsonObject, isObject } from '../json.ts';

/** What is kept of an ACP call whose input is too long: its title, and a mark that the rest is missing (D-904). */
export function keptPart(title: string): JsonObject {
  return { title, details_dropped: true };
}

/** Whether only the title of the input was kept, so that nothing else of it can be compared. */
export function isKeptPart(input: Json): boolean {
  if (!isObject(input) || input['details_dropped'] !== true) return false;
  return typeof input['title'] === 'string' && Object.keys(input).length === 2;
}
