import { HttpRefusal } from './http-refusal.ts';

export interface ByteRange {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

/** Reads a single byte range (D-42). Anything else is ignored, as RFC 9110 §14.2 allows. */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) return undefined;
  if (first === '') {
    const suffix = Math.min(Number(last), sizeBytes);
    return suffix === 0
      ? unsatisfiable(sizeBytes)
      : { start: sizeBytes - suffix, end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (start >= sizeBytes) return unsatisfiable(sizeBytes);
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  return end < start ? undefined : { start, end };
}

function unsatisfiable(sizeBytes: number): never {
  const headers = { 'content-range': `bytes */${sizeBytes}` };
  throw new HttpRefusal('range_not_satisfiable', { headers });
}
