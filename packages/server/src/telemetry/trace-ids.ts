import { hash } from 'node:crypto';
import type { RunId } from '@convoke/contract';

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
  return hash('sha256', run).slice(0, 32);
}

export function idsOf(run: RunId, part: string): SpanIds {
  return { traceId: traceIdOf(run), spanId: hash('sha256', `${run}\n${part}`).slice(0, 16) };
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
