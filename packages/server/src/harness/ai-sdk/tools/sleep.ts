import { z } from 'zod';
import { isoTime } from '../../../domain/iso-time.ts';
import type { Clock } from '../../../ports/clock.ts';
import { succeeded } from './agent-tool.ts';
import { secondsIn } from '../../wait-duration.ts';
import type { WaitTool } from './wait-tool.ts';

const sleepMaxSeconds = 30 * 86_400;

const sleepSchema = z.strictObject({
  for: z
    .string()
    .regex(/^[1-9]\d{0,6}[smhdw]$/)
    .refine(
      (text) => (secondsIn(text) ?? Number.POSITIVE_INFINITY) <= sleepMaxSeconds,
      'must be at most 30d',
    )
    .describe('How long: 90s, 15m, 2h, 3d or 2w, and 30d at most'),
  reason: z.string().min(1).max(200).describe('What you wait for, in a few words for people'),
});

/** Lets the run sleep, without a process (`sleep: true` of `agent.yaml`). */
export function sleepTool(clock: Pick<Clock, 'now'>): WaitTool {
  return {
    name: 'sleep',
    description: 'Waits for a time. You continue here when it is over.',
    inputSchema: sleepSchema,
    request: (ref, input) => {
      const parsed = sleepSchema.safeParse(input);
      if (!parsed.success) return undefined;
      const due = { inMs: (secondsIn(parsed.data.for) ?? 0) * 1000 };
      return { type: 'wait', ref, kind: 'timer', name: nameOf(parsed.data.reason), due };
    },
    // A model that has slept for days guesses otherwise that the person has written.
    resultOf: () =>
      succeeded(`The time has passed: it is ${isoTime(clock.now())}. No message has come since.`),
  };
}

/** The name of a wait is shown in one line. Whatever a model says must not end the run (D-929). */
function nameOf(reason: string): string {
  return reason.replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ').trim() || 'a time';
}
