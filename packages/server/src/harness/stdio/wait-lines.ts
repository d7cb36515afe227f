import { limits, signalName } from '@convoke/contract';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import type { KnownWait } from '../../domain/run/wait.ts';
import type { HarnessEvent } from '../../ports/harness.ts';

/** The message with which a program waits for a time or a message. */
export const waitLine = z
  .strictObject({
    type: z.literal('wait'),
    ref: z.string().min(1).max(200),
    kind: z.enum(['timer', 'signal']),
    name: z.string().min(1).max(200),
    for_seconds: z.number().min(0).max(limits.waitMaxSeconds).exactOptional(),
    until: z.iso.datetime({ offset: true }).exactOptional(),
  })
  .refine(
    ({ kind, for_seconds, until }) => kind === 'signal' || (for_seconds ?? until) !== undefined,
    {
      error: 'a timer needs for_seconds or until',
    },
  )
  .refine(({ kind, name }) => kind === 'timer' || signalName.safeParse(name).success, {
    error: 'the name of a message has 1 to 64 characters of A-Z, a-z, 0-9, _ and -',
  })
  .transform(({ for_seconds: seconds, until, ...wait }): HarnessEvent => {
    if (until !== undefined) return { ...wait, due: { at: Date.parse(until) } };
    return seconds === undefined ? wait : { ...wait, due: { inMs: Math.round(seconds * 1000) } };
  });

/** A wait as the start message has it. */
export function plainWait(wait: KnownWait): JsonObject {
  const { state, kind } = wait;
  if (wait.state === 'open') return { state, kind };
  const { number, result } = wait;
  switch (result.outcome) {
    case 'fired':
      return { state, kind, number, fired: true };
    case 'received':
      return { state, kind, number, data: result.data };
    case 'timed_out':
      return { state, kind, number, timed_out: true };
    default:
      return result satisfies never;
  }
}
