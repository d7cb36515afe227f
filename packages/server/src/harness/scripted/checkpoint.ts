import { z } from 'zod';
import type { Json } from '../../domain/json.ts';
import type { Answer, HarnessEvent, LegContext, LegEnd, LegInput } from '../../ports/harness.ts';
import { parsedJson } from '../parsed-json.ts';
import type { Script } from './script.ts';

/**
 * The checkpoint after every step, before a step that waits for a person, and inside a `say` that is handed over. Only
 * another leg of the same run reads it: a prompt leg starts the script from the beginning, so the checkpoint of a
 * cancelled run has no effect.
 */
const stateSchema = z.strictObject({
  run: z.string(),
  script: z.string(),
  /** The next step, by its number in the unrolled script. */
  step: z.int().min(0),
  /** The last answer before that step. */
  answer: z.string(),
  /** Characters of that step's text that were said; absent when none were. */
  said: z.int().min(1).exactOptional(),
  /** The output of the run, if an earlier step has set it. */
  output: parsedJson.exactOptional(),
});
type State = z.infer<typeof stateSchema>;

export interface Start {
  readonly step: number;
  /** The value of `{{answer}}`. */
  readonly answer: string;
  /** The answer to the first step, when it asked. */
  readonly given: Answer | undefined;
  /** Characters of the first step's text that were said. */
  readonly said: number;
  readonly output: Json | undefined;
}

const atStart = { step: 0, answer: '', said: 0, output: undefined };

export function startOf(context: LegContext<Script>, input: LegInput): Start | LegEnd {
  const { state, runId, settings } = context;
  if (input.kind === 'prompt') return { ...atStart, given: undefined };
  const parsed = stateSchema.safeParse(state);
  if (!parsed.success || parsed.data.run !== runId) {
    // Lost before its first recovery point: the script starts again.
    if (input.kind === 'continue') {
      return { ...atStart, given: input.answers.get(refOf(0)) };
    }
    return failure('agent_error', 'the run has no checkpoint of its own to resume from');
  }
  const { script, step, answer, said = 0, output } = parsed.data;
  if (script !== settings.digest) return changed(context);
  const given = input.answers.get(refOf(step));
  if (given === undefined && input.kind === 'resume') {
    return failure('agent_error', 'the run was resumed without its answer');
  }
  return { step, answer, given, said, output };
}

export interface Position {
  readonly context: LegContext<Script>;
  readonly answer: string;
  readonly said: number;
  readonly output: Json | undefined;
}

export function pointAt({ context, answer, said, output }: Position, step: number): HarnessEvent {
  const { runId, settings } = context;
  const place = {
    step,
    answer,
    ...(said > 0 && { said }),
    ...(output !== undefined && { output }),
  };
  const state: State = { run: runId, script: settings.digest, ...place };
  return { type: 'checkpoint', state, recovery: true };
}

export function refOf(ordinal: number): string {
  return `step-${ordinal}`;
}

export function changed({ agent }: LegContext): LegEnd {
  return failure('agent_error', `the script of ${agent.name} was changed while the run waited`);
}

export function failure(
  code: Extract<LegEnd, { outcome: 'error' }>['code'],
  message: string,
): LegEnd {
  return { type: 'end', outcome: 'error', code, message };
}
