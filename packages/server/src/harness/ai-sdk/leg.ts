import type { ModelMessage } from 'ai';
import type { Answer, HarnessEvent, LegContext, LegEnd, LegInput } from '../../ports/harness.ts';
import { type ToolSet, openTools } from './open-tools.ts';
import { failure, isRefusedRequest, isSilence, isTooLong, modelFailure } from './failure.ts';
import {
  type Memory,
  type OpenCall,
  beforeRun,
  closeOpen,
  newerHalf,
  readMemory,
  resultOf,
  storedMemory,
} from './memory.ts';
import type { LegParts } from './parts.ts';
import { toolResultEvent } from './step-record.ts';
import { type StepResult, runStep } from './step.ts';
import { type ToolOutput, failed, succeeded } from './tools/agent-tool.ts';
import { askUserName, questionOf } from './tools/ask-user.ts';
import type { AiSdkSettings } from './settings.ts';

/**
 * A leg is a series of steps: the model is asked, the tools it may use at will are run, and it is asked again
 * with what they gave. It ends
 *
 * - `completed` when the model calls nothing more;
 * - `waiting` when a call needs a person: the calls are kept as `open` in the memory, nothing runs, and the leg
 *   that resumes gives every one of them its result before the model is asked again;
 * - `cancelled` or with an error wherever it is. What was said and done until then is remembered, and calls that
 *   stayed open are closed with a note, by this leg or by the next: a list of messages with a call that
 *   nobody answered is refused by every provider.
 */

/** What a person can be shown and decide on; longer is refused, never shortened. */
const approvalBytesMax = 256 * 1024;

export async function* runLeg(
  input: LegInput,
  context: LegContext<AiSdkSettings>,
  parts: LegParts,
): AsyncGenerator<HarnessEvent, void> {
  const memory = readMemory(context.state);
  // The agent may have had another framework before. It cannot go on from what that remembered, but begin anew.
  if (memory === 'unreadable') yield { type: 'custom', name: 'memory_lost', data: {} };
  const known = memory === 'unreadable' ? undefined : memory;
  if (input.kind === 'resume' && known?.run !== context.runId) {
    yield failure('agent_error', 'The run has no checkpoint of its own to go on from.');
    return;
  }
  const equipment = await openTools(context, parts);
  if ('outcome' in equipment) {
    yield equipment;
    return;
  }
  let end: LegEnd;
  try {
    end = yield* new ConversationLeg(context, equipment).run(input, known);
  } finally {
    await equipment.close();
  }
  yield end;
}

class ConversationLeg {
  readonly #context: LegContext;
  readonly #equipment: ToolSet;
  #messages: ModelMessage[] = [];
  #steps = 0;
  #hasSpoken = false;
  #usage = { inputTokens: 0, outputTokens: 0 };

  constructor(context: LegContext, equipment: ToolSet) {
    this.#context = context;
    this.#equipment = equipment;
  }

  async *run(input: LegInput, known: Memory | undefined): AsyncGenerator<HarnessEvent, LegEnd> {
    if (input.kind === 'resume' && known !== undefined) yield* this.#resume(known, input.answers);
    else this.#begin(known);
    const end = yield* this.#converse();
    if (end.outcome !== 'waiting') yield* this.#remember();
    // Providers say in their errors what they were given.
    return end.outcome === 'error' ? { ...end, message: this.#equipment.redact(end.message) } : end;
  }

  #begin(known: Memory | undefined): void {
    const note = 'There is no result: the run ended before it was decided or done.';
    const before = known === undefined ? [] : closeOpen(known, note);
    this.#messages = [...before, { role: 'user', content: this.#context.prompt }];
  }

  /** Every open call gets its result, the approved ones by being run: once, and with the input that was approved. */
  async *#resume(
    known: Memory,
    answers: ReadonlyMap<string, Answer>,
  ): AsyncGenerator<HarnessEvent, void> {
    this.#steps = known.steps;
    this.#hasSpoken = known.hasSpoken;
    this.#messages = [...known.messages];
    for (const call of known.open) {
      const output = await this.#settle(call, answers.get(call.ref));
      this.#messages.push(resultOf(call, output));
      if (call.kind === 'question') continue;
      yield toolResultEvent(call, output);
    }
    // Should the server die while the model answers, the session still knows what was done.
    yield* this.#remember();
  }

  async #settle(call: OpenCall, answer: Answer | undefined): Promise<ToolOutput> {
    const { signal, catalogue } = this.#equipment;
    if (answer === undefined) return failed('Nobody answered.');
    if (answer.kind === 'question') {
      if (call.kind !== 'question') return failed('Nobody decided.');
      if ('declined' in answer)
        return succeeded(withReason('The person declined to answer', answer.reason));
      return succeeded(answer.values.join('\n'));
    }
    if (call.kind !== 'permission') return failed('Nobody answered.');
    if (!answer.allow) return failed(withReason('The person did not allow this', answer.reason));
    const tool = catalogue.byName(call.name);
    if (tool === undefined) return failed(`${call.name} is no longer one of the tools`);
    if (signal.aborted) return failed('The run was cancelled.');
    return catalogue.run(tool, answer.input, signal);
  }

  async *#converse(): AsyncGenerator<HarnessEvent, LegEnd> {
    const { settings, signal } = this.#equipment;
    for (;;) {
      if (signal.aborted) return cancelled;
      if (this.#steps >= settings.stepsMax) {
        const limit = settings.stepsMax;
        return failure(
          'agent_error',
          `The agent was stopped after ${limit} steps (limits.max_steps).`,
        );
      }
      const step = yield* this.#step();
      if (step.end.kind === 'failed' && isTooLong(step.end.error) && this.#forgetSome()) {
        yield { type: 'custom', name: 'memory_shortened', data: {} };
        continue;
      }
      this.#steps += 1;
      this.#messages.push(...step.messages);
      const end = yield* this.#afterStep(step);
      if (end !== undefined) return end;
    }
  }

  async *#step(): AsyncGenerator<HarnessEvent, StepResult> {
    const { model, system, catalogue, signal, limits } = this.#equipment;
    const step = yield* runStep({
      model,
      modelName: this.#context.agent.model ?? '',
      system,
      messages: this.#messages,
      catalogue,
      signal,
      ...limits,
      separator: this.#hasSpoken ? '\n\n' : '',
    });
    this.#hasSpoken ||= step.hasSpoken;
    this.#usage = {
      inputTokens: this.#usage.inputTokens + step.usage.inputTokens,
      outputTokens: this.#usage.outputTokens + step.usage.outputTokens,
    };
    yield { type: 'usage', ...this.#usage };
    return step;
  }

  async *#afterStep({ end, unanswered, hasResults }: StepResult) {
    const { settings, signal } = this.#equipment;
    if (signal.aborted) return cancelled;
    if (end.kind === 'aborted' || (end.kind === 'failed' && isSilence(end.error))) {
      const seconds = Math.round(this.#equipment.limits.silenceMs / 1000);
      return failure('model_error', `${settings.provider} said nothing for ${seconds} s.`);
    }
    if (end.kind === 'failed') {
      // With the same messages every later run of the session would be refused as well.
      if (isRefusedRequest(end.error)) this.#messages = beforeRun(this.#messages);
      return modelFailure(end.error, settings);
    }
    if (unanswered.length > 0) return yield* this.#ask(unanswered);
    if (hasResults) {
      yield* this.#remember();
      return undefined;
    }
    return finishOf(end.reason, settings.provider);
  }

  /** Parks the run on every call that needs a person; one that cannot be shown is answered at once. */
  async *#ask(
    unanswered: StepResult['unanswered'],
  ): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
    const { catalogue } = this.#equipment;
    const open: OpenCall[] = [];
    for (const [index, { toolCallId, wireName, input }] of unanswered.entries()) {
      // The model's own ids repeat, with some providers in every step.
      const ref = `call-${this.#steps}-${index + 1}`;
      const tool = catalogue.byWireName(wireName);
      const question = wireName === askUserName ? questionOf(ref, input) : undefined;
      if (question !== undefined) {
        open.push({ ref, kind: 'question', toolCallId, wireName, name: askUserName });
        yield question;
      } else if (tool === undefined) {
        this.#messages.push(resultOf({ toolCallId, wireName }, failed('there is no such tool')));
      } else if (Buffer.byteLength(JSON.stringify(input)) > approvalBytesMax) {
        const reason = `Not done: nobody can approve an input of more than ${approvalBytesMax} bytes.`;
        this.#messages.push(resultOf({ toolCallId, wireName }, failed(reason)));
      } else {
        open.push({ ref, kind: 'permission', toolCallId, wireName, name: tool.name });
        yield { type: 'permission_request', ref, toolName: tool.name, toolInput: input };
      }
    }
    if (open.length === 0) return undefined;
    const state = storedMemory(this.#memory(this.#messages, open));
    if (state === undefined) {
      this.#messages = beforeRun(this.#messages);
      return failure('agent_error', 'The conversation is too long to wait with.');
    }
    yield { type: 'checkpoint', state };
    return { type: 'end', outcome: 'waiting' };
  }

  async *#remember(): AsyncGenerator<HarnessEvent, void> {
    // Nothing came of the run: a prompt without an answer would stand before the next one.
    const before = beforeRun(this.#messages);
    const messages = this.#messages.at(-1)?.role === 'user' ? before : this.#messages;
    const state = storedMemory(this.#memory(messages)) ?? storedMemory(this.#memory(before));
    if (state !== undefined) yield { type: 'checkpoint', state };
  }

  #memory(messages: ModelMessage[], open: OpenCall[] = []): Memory {
    const { runId: run } = this.#context;
    return { run, steps: this.#steps, hasSpoken: this.#hasSpoken, messages, open };
  }

  #forgetSome(): boolean {
    const kept = newerHalf(this.#messages);
    if (kept === undefined) return false;
    this.#messages = kept;
    return true;
  }
}

const cancelled: LegEnd = { type: 'end', outcome: 'cancelled' };

function finishOf(reason: string, provider: string): LegEnd {
  if (reason === 'content-filter') {
    return failure('model_error', `${provider} withheld the answer (content filter).`);
  }
  if (reason === 'error')
    return failure('model_error', `${provider} ended the answer with an error.`);
  return { type: 'end', outcome: 'completed' };
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? `${text}.` : `${text}: ${reason}`;
}
