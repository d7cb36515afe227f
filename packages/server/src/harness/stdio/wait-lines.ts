import { jsonObject, limits, runBudget, signalName } from '@convoke/contract';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import type { Due, KnownWait } from '../../domain/run/wait.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import { resultOfCall } from '../called-result.ts';

const ends = {
  for_seconds: z.number().min(0).max(limits.waitMaxSeconds).exactOptional(),
  until: z.iso.datetime({ offset: true }).exactOptional(),
};
const waitRef = z.string().min(1).max(200);

const timedLine = z
  .strictObject({
    type: z.literal('wait'),
    ref: waitRef,
    kind: z.enum(['timer', 'signal']),
    name: z.string().min(1).max(200),
    ...ends,
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
  .transform(({ for_seconds, until, ...wait }): HarnessEvent => {
    const due = dueOf({ for_seconds, until });
    return due === undefined ? wait : { ...wait, due };
  });

const callLine = z
  .strictObject({
    type: z.literal('wait'),
    ref: waitRef,
    kind: z.literal('run'),
    name: z.string().min(1).max(64),
    input: jsonObject,
    budget: runBudget.exactOptional(),
    ...ends,
  })
  .transform(({ for_seconds, until, budget, ...call }): HarnessEvent => {
    const due = dueOf({ for_seconds, until });
    const ceiling = budget && {
      maxTokens: budget.max_tokens ?? null,
      maxCostMicros: budget.max_cost ?? null,
    };
    return {
      ...call,
      ...(due !== undefined && { due }),
      ...(ceiling !== undefined && { ceiling }),
    };
  });

/** The message with which a program waits for a time or a message, or calls another agent and waits for its end. */
export const waitLine = z.discriminatedUnion('kind', [timedLine, callLine]);

interface End {
  readonly for_seconds?: number | undefined;
  readonly until?: string | undefined;
}

function dueOf({ for_seconds: seconds, until }: End): Due | undefined {
  if (until !== undefined) return { at: Date.parse(until) };
  return seconds === undefined ? undefined : { inMs: Math.round(seconds * 1000) };
}

/** A wait as the start message has it. */
export function plainWait(wait: KnownWait): JsonObject {
  const { state, kind } = wait;
  if (wait.state === 'open') return { state, kind };
  const { number, result } = wait;
  const plain = { state, kind, number };
  if (kind === 'run') return { ...plain, ...plainCall(wait) };
  if (result.outcome === 'received') return { ...plain, data: result.data };
  return { ...plain, ...(result.outcome === 'fired' ? { fired: true } : { timed_out: true }) };
}

function plainCall(wait: Extract<KnownWait, { state: 'settled' }>): JsonObject {
  const { called, ...result } = resultOfCall(wait);
  const ids = called && { run_id: called.id, session_id: called.sessionId };
  if (!result.ok) return { ok: false, code: result.code, message: result.message, ...ids };
  const { text, isCut, output } = result;
  return {
    ok: true,
    text,
    ...(isCut && { is_cut: true }),
    ...(output !== undefined && { output }),
    ...ids,
  };
}
