import { sep } from 'node:path';

const pathCharsMax = 1024;
const partBytesMax = 255;

/**
 * Returns a valid path below a folder: relative, forward slashes, no `.` or `..` parts. Removes a leading `./`, so that
 * a file has one path only. `undefined` when the text is not such a path.
 */
export function confinedPath(text: string): string | undefined {
  const path = text.startsWith('./') ? text.slice(2) : text;
  if (path.length > pathCharsMax) return undefined;
  return path.split('/').every(isPathPart) ? path : undefined;
}

/** Whether the text is one valid file name: not empty, `.` or `..`, and short enough for every file system. */
export function isPathPart(part: string): boolean {
  if (part === '' || part === '.' || part === '..') return false;
  if (/[\\\0-\x1f\x7f/]/.test(part)) return false;
  return part.isWellFormed() && Buffer.byteLength(part) <= partBytesMax;
}

/** Whether `path` is the folder itself or is below it; both must be real, absolute paths. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}
