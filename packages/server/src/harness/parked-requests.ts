import { z } from 'zod';
import { type Json, canonicalJson } from '../domain/json.ts';
import type { KnownCall } from '../domain/run/tool-call.ts';
import type { Answer } from '../ports/harness.ts';
import type { ToldAction, Unfinished } from './continue-prompt.ts';

/** A request to a person that an agent's process waited on. It is in the checkpoint, so the process need not live. */
export const parkedRequest = z.strictObject({
  ref: z.string(),
  /** The question, or what the agent wanted to do. */
  title: z.string(),
  /** The tool that it wanted to use; null for a question. */
  tool: z.string().nullable(),
});
export type ParkedRequest = z.infer<typeof parkedRequest>;

/** Answers and calls of the run, for a leg that resumes. */
export interface SettledRequests {
  readonly answers: ReadonlyMap<string, Answer>;
  readonly calls: ReadonlyMap<string, KnownCall>;
}

export const nothingSettled: SettledRequests = { answers: new Map(), calls: new Map() };

/**
 * Calls that the agent has to make once more, since its process is gone: those that a person allowed and that never
 * began, and those in doubt that a person wants done. Each is allowed once, with exactly the input that was shown
 * (D-39, D-84).
 */
export class GrantedCalls {
  #granted: readonly { readonly ref: string; readonly toolName: string; readonly input: Json }[];

  constructor(parked: readonly ParkedRequest[], { answers, calls }: SettledRequests) {
    const allowed = parked.flatMap(({ ref, tool }) => {
      const answer = answers.get(ref);
      if (tool === null || calls.has(ref) || answer?.kind !== 'permission' || !answer.allow) {
        return [];
      }
      return [{ ref, toolName: tool, input: answer.input }];
    });
    const again = Array.from(calls).flatMap(([ref, { state, toolName, input }]) =>
      state === 'again' ? [{ ref, toolName, input }] : [],
    );
    this.#granted = [...allowed, ...again];
  }

  has(ref: string): boolean {
    return this.#granted.some((call) => call.ref === ref);
  }

  /** The `ref` under which the call may begin, once; undefined for a call that was not granted. */
  take(toolName: string, input: Json): string | undefined {
    const wanted = canonicalJson(input);
    const found = this.#granted.find(
      (call) => call.toolName === toolName && canonicalJson(call.input) === wanted,
    );
    this.#granted = this.#granted.filter((call) => call !== found);
    return found?.ref;
  }
}

/** The decisions of people about the actions that the agent waited for. */
export function decidedActions(
  parked: readonly ParkedRequest[],
  { answers, calls }: SettledRequests,
): ToldAction[] {
  return parked.flatMap(({ ref, title, tool }): ToldAction[] => {
    const answer = answers.get(ref);
    if (tool === null || calls.has(ref) || answer?.kind !== 'permission') return [];
    return answer.allow
      ? [{ title, fate: 'approved' }]
      : [{ title, fate: 'refused', note: answer.reason }];
  });
}

/** The outcome of a call that passed the ledger. */
export function fateOf(title: string, known: KnownCall): ToldAction {
  switch (known.state) {
    case 'ended':
      return { title, fate: known.ok ? 'done' : 'not done' };
    case 'left':
      return { title, fate: 'unknown', note: known.note };
    case 'again':
      return { title, fate: 'approved' };
    default:
      return known satisfies never;
  }
}

/** The answers to the questions that the agent waited for. */
export function answeredQuestions(
  parked: readonly ParkedRequest[],
  { answers }: SettledRequests,
): Unfinished['answers'] {
  return parked.flatMap(({ ref, title, tool }) => {
    const answer = answers.get(ref);
    if (tool !== null || answer?.kind !== 'question') return [];
    const text =
      'declined' in answer ? (answer.reason ?? 'none, it was declined') : answer.values.join(', ');
    return [{ question: title, answer: text }];
  });
}
