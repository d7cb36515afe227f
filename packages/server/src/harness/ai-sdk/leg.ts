import type { ModelMessage } from 'ai';
import type { Answer, HarnessEvent, LegContext, LegEnd, LegInput } from '../../ports/harness.ts';
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
import { type ToolSet, openTools } from './open-tools.ts';
import type { LegParts } from './parts.ts';
import type { AiSdkSettings } from './settings.ts';
import { toolResultEvent } from './step-record.ts';
import { type StepResult, runStep } from './step.ts';
import { type ToolOutput, failed, succeeded } from './tools/agent-tool.ts';
import { askUserName, questionOf } from './tools/ask-user.ts';

/**
 * A leg is a series of steps: ask the model, run the tools that need no approval, and ask again with their results. It
 * ends
 *
 * - `completed` when the model calls nothing more;
 * - `waiting` when a call needs a person: the memory keeps the calls as `open`, nothing runs, and the leg that resumes
 *   gives each of them a result before it asks the model again;
 * - `cancelled` or with an error at any point. The memory keeps what was said and done until then. This leg or the next
 *   closes open calls with a note: providers reject messages that contain a call without a result.
 */

/** The largest input that a person can be asked to approve; a larger one is refused, never shortened. */
const approvalBytesMax = 256 * 1024;

export async function* runLeg(
  input: LegInput,
  context: LegContext<AiSdkSettings>,
  parts: LegParts,
): AsyncGenerator<HarnessEvent, void> {
  const memory = readMemory(context.state);
  // The checkpoint may come from another framework that the agent used before; then the conversation starts over.
  if (memory === 'unreadable') yield { type: 'custom', name: 'memory_lost', data: {} };
  const known = memory === 'unreadable' ? undefined : memory;
  if (input.kind === 'resume' && known?.run !== context.runId) {
    yield failure('agent_error', 'The run has no checkpoint of its own to resume from.');
    return;
  }
  const toolSet = await openTools(context, parts);
  if ('outcome' in toolSet) {
    yield toolSet;
    return;
  }
  let end: LegEnd;
  try {
    end = yield* new ConversationLeg(context, toolSet).run(input, known);
  } finally {
    await toolSet.close();
  }
  yield end;
}

class ConversationLeg {
  readonly #context: LegContext;
  readonly #tools: ToolSet;
  #messages: ModelMessage[] = [];
  #steps = 0;
  #hasSpoken = false;
  #usage = { inputTokens: 0, outputTokens: 0 };

  constructor(context: LegContext, toolSet: ToolSet) {
    this.#context = context;
    this.#tools = toolSet;
  }

  async *run(input: LegInput, known: Memory | undefined): AsyncGenerator<HarnessEvent, LegEnd> {
    if (input.kind === 'resume' && known !== undefined) yield* this.#resume(known, input.answers);
    else this.#begin(known);
    const end = yield* this.#converse();
    if (end.outcome !== 'waiting') yield* this.#remember();
    // Error messages of providers may repeat what they were sent.
    return end.outcome === 'error' ? { ...end, message: this.#tools.redact(end.message) } : end;
  }

  #begin(known: Memory | undefined): void {
    const note = 'No result: the run ended before the call was approved or finished.';
    const before = known === undefined ? [] : closeOpen(known, note);
    this.#messages = [...before, { role: 'user', content: this.#context.prompt }];
  }

  /** Gives every open call its result. Approved calls run once, with the approved input. */
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
    // A checkpoint, so that the session knows what was done if the server dies while the model answers.
    yield* this.#remember();
  }

  async #settle(call: OpenCall, answer: Answer | undefined): Promise<ToolOutput> {
    const { signal, catalogue } = this.#tools;
    if (answer === undefined) return failed('No answer was given.');
    if (answer.kind === 'question') {
      if (call.kind !== 'question') return failed('No decision was made.');
      if ('declined' in answer)
        return succeeded(withReason('The person declined to answer', answer.reason));
      return succeeded(answer.values.join('\n'));
    }
    if (call.kind !== 'permission') return failed('No answer was given.');
    if (!answer.allow) return failed(withReason('The person did not allow this', answer.reason));
    const tool = catalogue.byName(call.name);
    if (tool === undefined) return failed(`${call.name} is no longer one of the tools`);
    if (signal.aborted) return failed('The run was cancelled.');
    return catalogue.run(tool, answer.input, signal);
  }

  async *#converse(): AsyncGenerator<HarnessEvent, LegEnd> {
    const { settings, signal } = this.#tools;
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
    const { model, system, catalogue, signal, limits } = this.#tools;
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
    const { settings, signal } = this.#tools;
    if (signal.aborted) return cancelled;
    if (end.kind === 'aborted' || (end.kind === 'failed' && isSilence(end.error))) {
      const seconds = Math.round(this.#tools.limits.silenceMs / 1000);
      return failure('model_error', `${settings.provider} said nothing for ${seconds} s.`);
    }
    if (end.kind === 'failed') {
      // With the same messages the provider would reject every later run of the session too.
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

  /** Parks the run on every call that needs a person; a call that cannot be shown gets an error result at once. */
  async *#ask(
    unanswered: StepResult['unanswered'],
  ): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
    const { catalogue } = this.#tools;
    const open: OpenCall[] = [];
    for (const [index, { toolCallId, wireName, input }] of unanswered.entries()) {
      // The model's own call ids repeat, with some providers in every step.
      const ref = `call-${this.#steps}-${index + 1}`;
      const tool = catalogue.byWireName(wireName);
      const question = wireName === askUserName ? questionOf(ref, input) : undefined;
      if (question !== undefined) {
        open.push({ ref, kind: 'question', toolCallId, wireName, name: askUserName });
        yield question;
      } else if (tool === undefined) {
        this.#messages.push(resultOf({ toolCallId, wireName }, failed('there is no such tool')));
      } else if (Buffer.byteLength(JSON.stringify(input)) > approvalBytesMax) {
        const reason = `Not executed: an input of more than ${approvalBytesMax} bytes cannot be approved.`;
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
      return failure(
        'agent_error',
        'The conversation is too long to be stored while the run waits.',
      );
    }
    yield { type: 'checkpoint', state };
    return { type: 'end', outcome: 'waiting' };
  }

  async *#remember(): AsyncGenerator<HarnessEvent, void> {
    // Without an answer the prompt is dropped, so that it does not precede the next one.
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
