import { type Json, type JsonObject, isObject } from '../json.ts';

/**
 * What is kept of an ACP call whose input is too long: its title, a mark that the rest is missing (D-904), and the
 * digest of the whole, by which the same call is recognized (D-905).
 */
export function keptPart(title: string, sha256: string): JsonObject {
  return { title, details_dropped: true, details_sha256: sha256 };
}

/** Whether only the title of the input was kept, so that nothing else of it can be compared. */
export function isKeptPart(input: Json): boolean {
  if (!isObject(input) || input['details_dropped'] !== true) return false;
  const { title, details_dropped: _dropped, details_sha256: sha256, ...others } = input;
  // Without a digest: kept by an earlier release.
  const isDigest = sha256 === undefined || typeof sha256 === 'string';
  return typeof title === 'string' && isDigest && Object.keys(others).length === 0;
}
