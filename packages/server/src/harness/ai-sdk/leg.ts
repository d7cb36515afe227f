import type { ModelMessage } from 'ai';
import type { Json } from '../../domain/json.ts';
import type {
  HarnessEvent,
  LegContext,
  LegEnd,
  LegInput,
  UsageReport,
} from '../../ports/harness.ts';
import {
  type SettledCalls,
  type StepCalls,
  inOrder,
  noCallSettled,
  outcomeOf,
  requestAbout,
  settledIn,
  sortCalls,
} from './calls.ts';
import {
  failure,
  finishOf,
  isRefusedRequest,
  isSilence,
  isTooLong,
  modelFailure,
} from './failure.ts';
import { inParallel } from './in-parallel.ts';
import {
  type Memory,
  type OpenCall,
  beforeRun,
  closeOpen,
  isRequestToSubmit,
  newerHalf,
  readMemory,
  resultOf,
  storedMemory,
} from './memory.ts';
import { type ToolSet, openTools } from './open-tools.ts';
import type { LegParts } from './parts.ts';
import type { AiSdkSettings } from './settings.ts';
import { type StepUsage, toolResultEvent } from './step-record.ts';
import { runReportedStep } from './reported-step.ts';
import type { StepResult } from './step.ts';
import { Submission, isSubmission, requestToSubmit } from './submission.ts';
import type { ToolOutput } from './tools/agent-tool.ts';

/**
 * A leg is a series of steps: ask the model, carry out its calls, and ask again with their results. A step has two
 * recovery points: the model's message with its open calls, and the same with their results. A call begins after the
 * first is emitted, so whatever the ledger knows about a call, its message is known too (D-89).
 *
 * A message that was cut is continued: the model is asked to continue after what it said, which stays in the answer.
 *
 * A leg ends
 *
 * - `completed` when the model calls nothing more, or has submitted the output that its agent promises (`Submission`);
 * - `waiting` when calls need a person, another run or time: nothing runs, and the leg that resumes gives them results;
 * - `yielded` when the server stops: behind the message, before its calls begin, or behind the calls that run;
 * - `cancelled` or with an error at any point. The memory keeps what was said and done until then, and open calls are
 *   closed with a note: providers reject messages that contain a call without a result.
 */

/** Calls of one step that run at the same time. */
const callsAtOnce = 4;
const closingNote = 'No result: the run ended before the call was approved or finished.';

export async function* runLeg(
  input: LegInput,
  context: LegContext<AiSdkSettings>,
  parts: LegParts,
): AsyncGenerator<HarnessEvent, void> {
  const memory = readMemory(context.state);
  const isOwn = memory !== undefined && memory !== 'unreadable' && memory.run === context.runId;
  // Lost before its first recovery point, a run starts again. One whose checkpoint cannot be read is not guessed at.
  const mustGoOn =
    input.kind === 'resume' || (input.kind === 'continue' && memory === 'unreadable');
  if (mustGoOn && !isOwn) {
    yield failure('agent_error', 'The run has no checkpoint of its own to resume from.');
    return;
  }
  // The checkpoint may come from another framework that the agent used before; then the conversation starts over.
  if (memory === 'unreadable') yield { type: 'custom', name: 'memory_lost', data: {} };
  const toolSet = await openTools(context, parts);
  if ('outcome' in toolSet) {
    yield toolSet;
    return;
  }
  let end: LegEnd;
  try {
    for (const server of toolSet.serversWithoutTools)
      yield { type: 'custom', name: 'mcp_server_without_tools', data: { server } };
    const leg = new ConversationLeg(context, toolSet);
    end = yield* leg.run(input, memory === 'unreadable' ? undefined : memory);
  } finally {
    await toolSet.close();
  }
  yield end;
}

class ConversationLeg {
  readonly #context: LegContext;
  readonly #tools: ToolSet;
  /** Of an agent with an `output_schema`. */
  readonly #submission: Submission | undefined;
  #messages: ModelMessage[] = [];
  /** Calls of the last message that have no result yet. */
  #open: readonly OpenCall[] = [];
  /** Whether the last recovery point holds the messages. */
  #isStored = true;
  #steps = 0;
  #hasSpoken = false;
  /** The beginning of the message that the leg continues, until the model has continued it. */
  #cut: string;
  /** Usage of the last answer, until it is reported. */
  #unreported: UsageReport | undefined;
  #usage: StepUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };

  constructor(context: LegContext, toolSet: ToolSet) {
    this.#context = context;
    this.#tools = toolSet;
    this.#cut = context.cut ?? '';
    const { agent } = context;
    const redact = (text: string) => toolSet.redact(text);
    this.#submission = agent.output && new Submission({ agent, redact });
  }

  async *run(input: LegInput, known: Memory | undefined): AsyncGenerator<HarnessEvent, LegEnd> {
    const isOwn = known !== undefined && known.run === this.#context.runId;
    const early =
      input.kind !== 'prompt' && isOwn ? yield* this.#continueFrom(known, input) : undefined;
    if (input.kind === 'prompt' || !isOwn) this.#begin(known);
    const end = early ?? (yield* this.#converse());
    if (end.outcome === 'waiting' || end.outcome === 'yielded') return end;
    const finished = end.outcome === 'completed' ? this.#finished() : undefined;
    if (finished !== undefined) {
      // Nothing is left to do: a leg that resumes from here only ends.
      yield this.#recoveryPoint(finished);
      return end;
    }
    yield* this.#reportUsage();
    // Error messages of providers may repeat what they were sent.
    const redacted =
      end.outcome === 'error' ? { ...end, message: this.#tools.redact(end.message) } : end;
    const state = this.#lastState();
    return state === undefined ? redacted : { ...redacted, state };
  }

  #begin(known: Memory | undefined): void {
    const before = known === undefined ? [] : closeOpen(known, closingNote);
    this.#messages = [...before, { role: 'user', content: this.#context.prompt }];
  }

  /** Continues from the checkpoint. Returns an end when there is nothing to ask the model. */
  async *#continueFrom(
    known: Memory,
    input: Exclude<LegInput, { kind: 'prompt' }>,
  ): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
    this.#steps = known.steps;
    this.#hasSpoken = known.hasSpoken;
    this.#messages = [...known.messages];
    this.#open = known.open;
    if (known.isIncomplete === true) {
      return failure(
        'agent_error',
        'The conversation was too long to be stored, so the run cannot be resumed.',
      );
    }
    if (known.open.length > 0) {
      return yield* this.#answerCalls(settledIn(input));
    }
    return this.#afterCalls();
  }

  /** The end of a run whose model has nothing left to do. No call is open. */
  #afterCalls(isSilent = this.#isAnswered): LegEnd | undefined {
    if (this.#submission === undefined) return isSilent ? completed : undefined;
    const next = this.#submission.next(this.#messages, isSilent);
    if (next.kind === 'repair') this.#messages.push(requestToSubmit);
    return next.kind === 'end' ? next.end : undefined;
  }

  get #isAnswered(): boolean {
    return this.#messages.at(-1)?.role === 'assistant';
  }

  async *#converse(): AsyncGenerator<HarnessEvent, LegEnd> {
    const { settings, signal } = this.#tools;
    for (;;) {
      if (signal.aborted) return cancelled;
      if (this.#mustYield()) return yielded;
      if (this.#steps >= settings.stepsMax) {
        const limit = settings.stepsMax;
        return failure(
          'agent_error',
          `The agent was stopped after ${limit} steps (limits.max_steps).`,
        );
      }
      const allowance = await this.#context.allowance?.();
      if (signal.aborted) return cancelled;
      if (allowance?.isExhausted === true) return failure('budget_exceeded', nothingLeft);
      const step = yield* this.#step(allowance?.outputTokens);
      if (step.end.kind === 'failed' && isTooLong(step.end.error) && this.#forgetSome()) {
        yield* this.#reportUsage();
        yield { type: 'custom', name: 'memory_shortened', data: {} };
        continue;
      }
      this.#steps += 1;
      this.#cut = '';
      this.#messages.push(...step.messages);
      const end = yield* this.#afterStep(step);
      if (end !== undefined) return end;
    }
  }

  async *#step(outputTokens?: number): AsyncGenerator<HarnessEvent, StepResult> {
    const { model, system, catalogue, signal, limits } = this.#tools;
    const separator = this.#hasSpoken ? '\n\n' : '';
    const cut = this.#cut;
    const step = yield* runReportedStep(this.#context, {
      model,
      modelName: this.#context.agent.model ?? '',
      system,
      messages: this.#messages,
      catalogue,
      signal,
      ...limits,
      outputTokens,
      mustSubmit: this.#messages.slice(-1).some(isRequestToSubmit),
      // The separator was said with the first words of the message.
      separator: cut === '' ? separator : '',
      cut: cut.startsWith(separator) ? cut.slice(separator.length) : cut,
    });
    this.#hasSpoken ||= step.hasSpoken;
    this.#usage = {
      inputTokens: this.#usage.inputTokens + step.usage.inputTokens,
      outputTokens: this.#usage.outputTokens + step.usage.outputTokens,
      cachedInputTokens: this.#usage.cachedInputTokens + step.usage.cachedInputTokens,
      reasoningTokens: this.#usage.reasoningTokens + step.usage.reasoningTokens,
    };
    const isPartial = step.isUsagePartial && { isPartial: true };
    this.#unreported = { type: 'usage', ...this.#usage, ...isPartial };
    const { inputTokens: input_tokens, outputTokens: output_tokens } = step.usage;
    if (!step.isUsagePartial && input_tokens + output_tokens > 0) {
      // D-341: for people who look at the run. The bill is made from the report above.
      const cost = this.#context.costOf?.(step.usage);
      const priced = cost && { cost: cost.micros, currency: cost.currency };
      const data = { input_tokens, output_tokens, ...priced };
      yield { type: 'custom', name: 'model_usage', data };
    }
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
    if (unanswered.length === 0 && !hasResults) {
      const finish = finishOf(end.reason, settings.provider) ?? this.#afterCalls(true);
      if (finish === undefined) yield* this.#point();
      return finish;
    }
    const submitted = this.#submission?.answer(unanswered.filter(isSubmission));
    const others = submitted ? unanswered.filter((call) => !isSubmission(call)) : unanswered;
    const { open, refused } = sortCalls(others, this.#calls());
    this.#messages.push(...(submitted?.results ?? []), ...refused);
    yield* submitted?.events ?? [];
    this.#open = open;
    yield* this.#point();
    if (this.#mustYield()) return yielded;
    return open.length === 0 ? this.#afterCalls() : yield* this.#answerCalls(noCallSettled);
  }

  /** Gives open calls their results: runs what may run, and parks the run on what a person has to answer. */
  async *#answerCalls(settled: SettledCalls): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
    const { signal } = this.#tools;
    if (signal.aborted) return cancelled;
    const calls = this.#calls();
    const outputs = new Map<OpenCall, ToolOutput>();
    const work = async (call: OpenCall) => ({
      call,
      outcome: await outcomeOf(call, settled, calls),
    });
    for await (const { call, outcome } of inParallel(this.#open, callsAtOnce, work)) {
      if (outcome === 'refused')
        return failure('tool_error', `${call.name} could not be recorded.`);
      if (outcome === 'asked' || outcome === 'later') continue;
      outputs.set(call, outcome);
      if (call.kind !== 'question') yield toolResultEvent(call, outcome);
    }
    const left = this.#open.filter((call) => !outputs.has(call));
    for (const [call, output] of inOrder(this.#open, outputs)) {
      this.#messages.push(resultOf(call, output));
    }
    this.#open = left;
    if (signal.aborted) return cancelled;
    if (outputs.size > 0) yield* this.#point();
    if (this.#mustYield()) return yielded;
    if (left.length === 0) return this.#afterCalls();
    if (!this.#isStored) {
      this.#messages = beforeRun(this.#messages);
      this.#open = [];
      const reason = 'The conversation is too long to be stored while the run waits.';
      return failure('agent_error', reason);
    }
    for (const call of left) yield requestAbout(call, calls);
    return { type: 'end', outcome: 'waiting' };
  }

  #calls(): StepCalls {
    const { catalogue, signal } = this.#tools;
    const { effects, agent, holdsLease, trace } = this.#context;
    return {
      trace,
      catalogue,
      signal,
      effects,
      holdsLease,
      mustYield: () => this.#mustYield(),
      repeatableTools: agent.recovery.repeatableTools,
      messages: this.#messages,
      step: this.#steps,
    };
  }

  /** A run whose messages could not be stored cannot be handed over. */
  #mustYield(): boolean {
    return this.#tools.isYielding() && this.#isStored;
  }

  /** A recovery point. Messages that are too long to be stored leave one that the run cannot continue from. */
  *#point(): Generator<HarnessEvent, void> {
    const memory = this.#memory(this.#messages, this.#open);
    const state = storedMemory(memory);
    const before = { ...memory, messages: beforeRun(this.#messages), open: [] };
    const kept = state ?? storedMemory({ ...before, isIncomplete: true });
    if (kept !== undefined) yield this.#recoveryPoint(kept);
    yield* this.#reportUsage();
    this.#isStored = state !== undefined;
  }

  /** With what its answer used: after a kill between the two, the model would give that answer again. */
  #recoveryPoint(state: Json): HarnessEvent {
    const usage = this.#unreported;
    this.#unreported = undefined;
    return { type: 'checkpoint', state, recovery: true, ...(usage && { usage }) };
  }

  *#reportUsage(): Generator<HarnessEvent, void> {
    const usage = this.#unreported;
    this.#unreported = undefined;
    if (usage !== undefined) yield usage;
  }

  /** The memory of a run that has its answer, if it can be stored. */
  #finished(): Json | undefined {
    if (!this.#isAnswered && this.#submission === undefined) return undefined;
    return storedMemory(this.#memory(this.#messages));
  }

  /** The memory of a run that is over, however it ended. */
  #lastState(): Json | undefined {
    const closed = closeOpen({ messages: this.#messages, open: this.#open }, closingNote);
    // Without an answer the prompt is dropped, so that it does not precede the next one.
    const before = beforeRun(closed);
    const messages = closed.at(-1)?.role === 'user' ? before : closed;
    return storedMemory(this.#memory(messages)) ?? storedMemory(this.#memory(before));
  }

  #memory(messages: ModelMessage[], open: readonly OpenCall[] = []): Memory {
    const { runId: run } = this.#context;
    return { run, steps: this.#steps, hasSpoken: this.#hasSpoken, messages, open: [...open] };
  }

  #forgetSome(): boolean {
    const kept = newerHalf(this.#messages);
    if (kept === undefined) return false;
    this.#messages = kept;
    return true;
  }
}

const nothingLeft = 'A ceiling leaves nothing for another request to the model.';
const cancelled: LegEnd = { type: 'end', outcome: 'cancelled' };
const yielded: LegEnd = { type: 'end', outcome: 'yielded' };
const completed: LegEnd = { type: 'end', outcome: 'completed' };
