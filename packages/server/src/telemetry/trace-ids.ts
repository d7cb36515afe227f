import { hash, randomBytes } from 'node:crypto';
import type { RunId } from '@convoke/contract';

/** Spans of a run need the same few hashes again and again, and each costs as much as the rest of a span. */
const hashes = new Map<string, string>();
const hashesMax = 4096;

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Named parts of the trace of a run: each server computes the same span id for the same part (D-582). */
export const parts = {
  root: 'run',
  start: 'start',
  leg: (epoch: number) => `leg:${epoch}`,
  call: (epoch: number, call: string) => `call:${epoch}:${call}`,
  wait: (interaction: string) => `wait:${interaction}`,
};

export function traceIdOf(run: RunId): string {
  return hashOf(run).slice(0, 32);
}

export function idsOf(run: RunId, part: string): SpanIds {
  return { traceId: traceIdOf(run), spanId: hashOf(`${run}\n${part}`).slice(0, 16) };
}

/** Of a span that only the server which sends it has to name. */
export function idsWithoutPart(run: RunId): SpanIds {
  return { traceId: traceIdOf(run), spanId: randomBytes(8).toString('hex') };
}

function hashOf(text: string): string {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  const made = hash('sha256', text);
  if (hashes.size >= hashesMax) hashes.clear();
  hashes.set(text, made);
  return made;
}

export function traceparentOf({ traceId, spanId }: SpanIds, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

const format =
  /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/;

/** Undefined for a header that is malformed, as if there were none. */
export function parsedTraceparent(
  header: string | readonly string[] | undefined,
): (SpanIds & { readonly isSampled: boolean }) | undefined {
  if (typeof header !== 'string') return undefined;
  const [, traceId, spanId, flags] = format.exec(header.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
