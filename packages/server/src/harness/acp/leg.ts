import type { PromptResponse } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { redactor } from '../../agents/secret-references.ts';
import type {
  Answer,
  HarnessEvent,
  Leg,
  LegContext,
  LegEnd,
  LegInput,
  UsageReport,
} from '../../ports/harness.ts';
import { inBackground } from '../../runtime/in-background.ts';
import { EventQueue } from '../event-queue.ts';
import { redactedSpeech } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { continuePrompt } from '../continue-prompt.ts';
import { GrantedCalls } from '../parked-requests.ts';
import type { AgentProcess } from './process.ts';
import { SessionCost } from './session-cost.ts';
import type { AcpSettings } from './settings.ts';
import { type AcpState, type Progress, noProgress, stateOf } from './state.ts';
import { PromptTurn } from './prompt-turn.ts';
import { settledBy, unfinishedOf } from './unfinished.ts';

/** A process with an open session, and whether the agent still has the earlier conversation. */
export interface OpenProcess {
  readonly process: AgentProcess;
  readonly memory: 'none' | 'kept' | 'lost';
}

export interface LegParts {
  readonly input: LegInput;
  readonly context: LegContext<AcpSettings>;
  /** Rejects with a `LegFailure`. Aborting the signal kills a process that was started. */
  readonly open: (signal: AbortSignal) => Promise<OpenProcess>;
  /** The process is free for the session's next leg. */
  readonly onFree: (process: AgentProcess) => void;
  /** Ends a process that is free, unless the session's next leg has taken it. */
  readonly endFree: (process: AgentProcess) => Promise<void>;
  /** Called with an unexpected error. */
  readonly onFault: (error: unknown) => void;
}

/**
 * - `opening`: the process starts, or that of the previous leg is taken over. The agent does not have the prompt yet.
 * - `handing back`: asked to yield while `opening`. The leg is given back as it was claimed.
 * - `prompted`: the agent works on the prompt, or waits for a person.
 * - `yielding`: asked to yield while `prompted`. The turn is stopped at the next safe point (D-85).
 * - `handing over`: the turn was stopped there. The next process gets its outcome.
 * - `cancelled`: cancelled or killed, in any phase before. It is not left again.
 */
type Phase = 'opening' | 'handing back' | 'prompted' | 'yielding' | 'handing over' | 'cancelled';

/**
 * One prompt and all messages until the agent stops. Answers go to the running agent: the protocol cannot ask again
 * later, so the process stays alive while it waits for a person.
 */
export class AcpLeg implements Leg {
  readonly #parts: LegParts;
  readonly #queue = new EventQueue();
  readonly #stop = new AbortController();
  /** Aborted when the server stops before the agent has got its prompt. */
  readonly #handBack = new AbortController();
  readonly #turn: PromptTurn;
  readonly #before: Progress;
  #process: AgentProcess | undefined;
  /** `free`: the session's next leg may use it. `ended`: it was killed, so no leg gets it any more. */
  #hold: 'held' | 'free' | 'ended' = 'held';
  /** Counts the processes started in this leg that still run. */
  #countRemaining = async () => 0;
  #phase: Phase = 'opening';
  #cost = new SessionCost(undefined);
  #tokens: TokenReport = noTokens;
  #breach: LegFailure | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: LegParts) {
    this.#parts = parts;
    const { agent, holdsLease, effects, settings } = parts.context;
    const { tools, asksUser } = settings;
    this.#before = progressBefore(parts);
    this.#turn = new PromptTurn({
      tools,
      asksUser,
      holdsLease,
      effects,
      queue: this.#queue,
      before: this.#before,
      granted: new GrantedCalls(this.#before.asked, settledBy(parts.input)),
      onProgress: () => this.#point(),
      onStep: () => this.#handOverIfSafe(),
      model: () => agent.model ?? this.#process?.model,
      redact: (text) => this.#process?.redact(text) ?? text,
      onCost: (cost) => {
        if (this.#cost.take(cost)) this.#reportUsage();
      },
      onBreach: (failure) => inBackground(this.#onBreach(failure)),
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#parts.context;
    const cancel = () => inBackground(this.cancel());
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    this.#running = this.#run()
      .then((end) => this.#queue.push(this.#withState(end)))
      .catch((error: unknown) => this.#queue.fail(error));
    try {
      yield* redactedSpeech(this.#queue, () => this.#process?.redact ?? noSecrets);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  async answer(ref: string, answer: Answer): Promise<boolean> {
    return this.#turn.answer(ref, answer);
  }

  async cancel(): Promise<void> {
    if (this.#is('cancelled') || this.#queue.isEnded) return;
    const isPrompted = !this.#is('opening', 'handing back') && this.#hold === 'held';
    this.#stopAll();
    // Cancel before rejecting open requests: an agent that sees a rejection first continues with something else.
    if (isPrompted) await this.#process?.cancel();
    this.#turn.cancel();
  }

  async yield(): Promise<void> {
    if (this.#queue.isEnded) return;
    if (this.#is('opening')) {
      this.#phase = 'handing back';
      this.#handBack.abort();
    } else if (this.#is('prompted')) {
      this.#phase = 'yielding';
      this.#handOverIfSafe();
    }
  }

  async kill(): Promise<void> {
    this.#stopAll();
    this.#turn.cancel();
    this.#queue.push({ type: 'end', outcome: 'cancelled' });
    await this.#endProcess();
    await this.#running;
  }

  async #endProcess(): Promise<void> {
    const isFree = this.#hold === 'free';
    this.#hold = 'ended';
    if (this.#process === undefined) return;
    await (isFree ? this.#parts.endFree(this.#process) : this.#process.kill());
  }

  async #free(process: AgentProcess): Promise<void> {
    if (this.#hold === 'ended') return process.kill();
    this.#hold = 'free';
    this.#parts.onFree(process);
  }

  async redact(text: string): Promise<string> {
    return this.#process?.redact(text) ?? text;
  }

  async #run(): Promise<LegEnd> {
    const { input, open, onFault } = this.#parts;
    try {
      if (input.kind === 'resume') {
        throw new LegFailure('agent_error', 'An ACP agent cannot resume a parked run.');
      }
      const { process, memory } = await open(
        AbortSignal.any([this.#stop.signal, this.#handBack.signal]),
      );
      this.#process = process;
      this.#countRemaining = await process.mark();
      if (this.#is('cancelled')) {
        await this.#free(process);
        return { type: 'end', outcome: 'cancelled' };
      }
      if (this.#is('handing back')) return await this.#leave(process);
      this.#begin(process, memory);
      this.#phase = 'prompted';
      const response = await process.prompt(this.#prompts(memory));
      if (this.#breach !== undefined) return this.#breach.end;
      if (this.#isHandedOver(response.stopReason)) return await this.#handOver(process, response);
      await this.#release(process);
      return this.#ended(response);
    } catch (error) {
      if (this.#breach !== undefined) return this.#breach.end;
      // The start was broken off.
      if (this.#is('handing back')) return this.#leave(this.#process);
      // Some agents answer a cancel with an error, or exit.
      if (this.#process !== undefined && this.#isHandedOver('cancelled')) {
        return this.#handOver(this.#process);
      }
      await this.#recover(error);
      if (this.#is('cancelled')) return { type: 'end', outcome: 'cancelled' };
      if (error instanceof LegFailure) return error.end;
      onFault(error);
      return new LegFailure('agent_error', 'The ACP connection failed unexpectedly.').end;
    }
  }

  /** Whether the agent has not got the prompt of the run: every leg before was handed back, which leaves no point. */
  get #isFirst(): boolean {
    const { input, context } = this.#parts;
    if (input.kind !== 'continue') return true;
    const state = stateOf(context.state);
    // A checkpoint of another framework may be of this run.
    const isUnknown = state === undefined && context.state !== undefined;
    return input.reason === 'drained' && !isUnknown && state?.run !== context.runId;
  }

  #is(...phases: readonly Phase[]): boolean {
    return phases.includes(this.#phase);
  }

  #stopAll(): void {
    this.#phase = 'cancelled';
    this.#stop.abort();
  }

  async #leave(process: AgentProcess | undefined): Promise<LegEnd> {
    await process?.leave();
    return { type: 'end', outcome: 'yielded' };
  }

  #begin(process: AgentProcess, memory: OpenProcess['memory']): void {
    if (memory === 'kept') this.#cost = new SessionCost(stateOf(this.#parts.context.state)?.cost);
    const isContinued = !this.#isFirst;
    if (memory === 'lost' || (isContinued && memory !== 'kept')) {
      const reason = isContinued
        ? 'the agent no longer has the conversation that the run belongs to'
        : 'the agent no longer has the conversation and begins a new one';
      this.#queue.push({ type: 'custom', name: 'session_lost', data: { reason } });
      if (isContinued) throw sessionLost();
    }
    this.#point();
    process.listen(this.#turn);
  }

  /**
   * Stops the turn, so that another process can continue with it (D-85): when none of its calls runs, and only if the
   * agent can open its session again. A request that waits for a person stays open; its answer goes to the next leg.
   */
  #handOverIfSafe(): void {
    const process = this.#process;
    if (!this.#is('yielding')) return;
    if (process?.canReopen !== true || !this.#turn.isSafe) return;
    this.#phase = 'handing over';
    // Cancelled first, as in `cancel`. The agent may ask for its next call in the meantime: it must not begin.
    this.#turn.stop(process.cancel());
  }

  /** Some agents end their turn as if nothing had happened when a request of theirs is cancelled. */
  #isHandedOver(stopReason: PromptResponse['stopReason']): boolean {
    if (!this.#is('handing over')) return false;
    return stopReason === 'cancelled' || this.#turn.isWaiting || this.#turn.hasWithdrawn;
  }

  async #handOver(process: AgentProcess, response?: PromptResponse): Promise<LegEnd> {
    if (response !== undefined) this.#reportTokens(response);
    process.listen(undefined);
    await process.leave();
    await this.#turn.settled();
    this.#point({ said: this.#turn.said });
    // A call that began at the last moment was cut off.
    return { type: 'end', outcome: this.#turn.isSafe ? 'yielded' : 'cut' };
  }

  #prompts(memory: OpenProcess['memory']): readonly string[] {
    const { input, context } = this.#parts;
    if (input.kind === 'continue' && !this.#isFirst) {
      return [continuePrompt(unfinishedOf(context.prompt, this.#before, input))];
    }
    const { instructions } = context.settings;
    // The protocol has no field for instructions: they are sent before the first prompt.
    const opening = memory === 'kept' || instructions === '' ? [] : [instructions];
    return [...opening, context.prompt];
  }

  /** A recovery point: the agent's own session, and the state of the run. */
  #point(more: Pick<Progress, 'said'> = {}): void {
    const process = this.#process;
    if (process === undefined) return;
    const progress = { ...this.#turn.progress, ...more };
    const state = { ...this.#stateOf(process), progress };
    this.#queue.push({ type: 'checkpoint', state, recovery: true });
  }

  #stateOf({ session }: AgentProcess): AcpState {
    const cost = this.#cost.total;
    const { runId: run } = this.#parts.context;
    return { session, run, ...(cost === undefined ? {} : { cost }) };
  }

  /** The usage of the leg so far. */
  #reportUsage(): void {
    const cost = this.#cost.ofLeg;
    this.#queue.push({ type: 'usage', ...this.#tokens, ...(cost === undefined ? {} : { cost }) });
  }

  #withState(end: LegEnd): LegEnd {
    const process = this.#process;
    const goesOn = end.outcome === 'yielded' || end.outcome === 'cut';
    if (process === undefined || goesOn) return end;
    return { ...end, state: this.#stateOf(process) };
  }

  /** Keeps a process that only refused this prompt; kills any other. */
  async #recover(error: unknown): Promise<void> {
    if (this.#process === undefined) return;
    const isHealthy = error instanceof LegFailure && error.isRefusal;
    await (isHealthy ? this.#release(this.#process) : this.#process.kill());
  }

  /**
   * Keeps the process for the next prompt, unless commands that this prompt started still run: in the background, or
   * because the agent did not end them on cancel. They must end with the run, which only killing the agent ensures.
   */
  async #release(process: AgentProcess): Promise<void> {
    process.listen(undefined);
    const count = await this.#countRemaining();
    if (count === 0) return this.#free(process);
    this.#queue.push({ type: 'custom', name: 'processes_ended', data: { count } });
    await process.kill();
  }

  /** Some agents report `cancelled` when a person refused a call: only our own cancel counts. */
  #ended(response: PromptResponse): LegEnd {
    this.#reportTokens(response);
    if (this.#is('cancelled')) return { type: 'end', outcome: 'cancelled' };
    if (response.stopReason === 'refusal') {
      return new LegFailure('model_error', 'The model refused to continue.').end;
    }
    if (response.stopReason !== 'end_turn') {
      const data = { stop_reason: response.stopReason };
      this.#queue.push({ type: 'custom', name: 'stopped', data });
    }
    return { type: 'end', outcome: 'completed' };
  }

  #reportTokens(response: PromptResponse): void {
    const usage = usageIn.safeParse(response).data?.usage;
    if (usage === undefined) return;
    this.#tokens = usageOf(usage);
    this.#reportUsage();
  }

  async #onBreach(failure: LegFailure): Promise<void> {
    if (this.#breach !== undefined) return;
    this.#breach = failure;
    this.#queue.push(failure.end);
    await this.#process?.kill();
  }
}

function sessionLost(): LegFailure {
  const reason = 'The agent no longer has its session, so the run cannot continue.';
  return new LegFailure('worker_lost', reason);
}

function progressBefore({ context, input }: LegParts): Progress {
  const state = stateOf(context.state);
  const isOwn = input.kind === 'continue' && state?.run === context.runId;
  return (isOwn ? state.progress : undefined) ?? noProgress;
}

const noSecrets = redactor([]);

/** Not yet part of the protocol, but sent by some agents. */
const count = z.number().int().min(0);
const usageIn = z.object({
  usage: z
    .object({
      inputTokens: count,
      outputTokens: count,
      cachedReadTokens: count.nullish(),
      thoughtTokens: count.nullish(),
    })
    .optional()
    .catch(undefined),
});

type TokenReport = Omit<UsageReport, 'type' | 'cost'>;
const noTokens: TokenReport = { inputTokens: 0, outputTokens: 0 };

function usageOf(usage: NonNullable<z.infer<typeof usageIn>['usage']>): TokenReport {
  const { inputTokens, outputTokens, cachedReadTokens, thoughtTokens } = usage;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: cachedReadTokens ?? 0,
    reasoningTokens: thoughtTokens ?? 0,
  };
}
