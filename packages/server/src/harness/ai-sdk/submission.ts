import type { AssistantModelMessage, ModelMessage, UserModelMessage } from 'ai';
import type { Agent } from '../../domain/agent.ts';
import type { Json } from '../../domain/json.ts';
import { completedWith } from '../../domain/run/completion.ts';
import type { HarnessEvent, LegEnd } from '../../ports/harness.ts';
import { redactedJson } from '../event-redaction.ts';
import { askedOutput } from '../output-schema.ts';
import { isRequestToSubmit, messagesOfRun, resultOf, toJson } from './memory.ts';
import type { UnansweredCall } from './step-record.ts';
import { failed, succeeded } from './tools/agent-tool.ts';
import { submitName } from './tools/submit-output.ts';

/**
 * What the agent of a run with an `output_schema` has submitted. The call is no effect: it is in no ledger, and no rule
 * is about it. A message that submits nothing right is corrected at most twice in a run: the model gets what is wrong
 * as the result of its call, or is asked to submit. All is decided from the stored messages, so a leg that resumes
 * decides the same.
 */
const repairsMax = 2;

export const requestToSubmit: UserModelMessage = {
  role: 'user',
  content: `Submit the result with ${submitName} now.`,
  providerOptions: { convoke: { asksToSubmit: true } },
};

export interface SubmissionParts {
  readonly agent: Agent;
  readonly redact: (text: string) => string;
}

type Next = { readonly kind: 'ask' | 'repair' } | { readonly kind: 'end'; readonly end: LegEnd };

export class Submission {
  readonly #parts: SubmissionParts;

  constructor(parts: SubmissionParts) {
    this.#parts = parts;
  }

  /** The results of submissions, and what readers of the run see of those that do not fit. */
  answer(calls: readonly UnansweredCall[]): {
    readonly results: readonly ModelMessage[];
    readonly events: readonly HarnessEvent[];
  } {
    const results: ModelMessage[] = [];
    const events: HarnessEvent[] = [];
    for (const call of calls) {
      const message = this.#problemOf(call.input);
      results.push(
        resultOf(call, message === undefined ? succeeded('Accepted.') : failed(message)),
      );
      if (message !== undefined) {
        events.push({ type: 'custom', name: 'output_refused', data: { message } });
      }
    }
    return { results, events };
  }

  /**
   * What follows, once every call has its result. `repair`: the model has to be asked to submit. `isSilent`: it has
   * just called nothing, which a message without words does not show.
   */
  next(messages: readonly ModelMessage[], isSilent: boolean): Next {
    const run = messagesOfRun(messages);
    const submitted = run.flatMap((message) =>
      message.role === 'assistant' ? [submittedBy(message)] : [],
    );
    const fits = (input: Json) => this.#problemOf(input) === undefined;
    const fitting = submitted.flat().findLast(fits);
    if (fitting !== undefined) return this.#end(fitting);
    const wrong = submitted.filter((inputs) => inputs.length > 0).length;
    const repairs = wrong + run.filter(isRequestToSubmit).length;
    if (repairs > repairsMax || (isSilent && repairs === repairsMax)) {
      return this.#end(submitted.flat().at(-1));
    }
    return { kind: isSilent ? 'repair' : 'ask' };
  }

  /** The one place that checks outputs returns the problem (D-567). */
  #end(input: Json | undefined): Next {
    const output = input === undefined ? undefined : this.#outputIn(input);
    const end = { type: 'end', outcome: 'completed' } as const;
    return { kind: 'end', end: output === undefined ? end : { ...end, output } };
  }

  #outputIn(input: Json): Json | undefined {
    const { agent, redact } = this.#parts;
    const value = askedOutput(agent.output?.schema ?? {}).valueIn(input);
    return value === undefined ? undefined : redactedJson(value, redact);
  }

  #problemOf(input: Json): string | undefined {
    const outcome = completedWith(this.#parts.agent, this.#outputIn(input));
    return outcome.status === 'failed' ? outcome.message : undefined;
  }
}

export function isSubmission({ wireName }: UnansweredCall): boolean {
  return wireName === submitName;
}

function submittedBy({ content }: AssistantModelMessage): readonly Json[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) =>
    part.type === 'tool-call' && part.toolName === submitName ? [toJson(part.input ?? null)] : [],
  );
}
