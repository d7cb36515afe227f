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
} from '../../ports/harness.ts';
import { EventQueue } from '../event-queue.ts';
import { redactedSpeech } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { continuePrompt } from './continue-prompt.ts';
import type { AgentProcess } from './process.ts';
import type { AcpSettings } from './settings.ts';
import { type Progress, stateOf } from './state.ts';
import { Turn } from './turn.ts';

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
  /** Called with an unexpected error. */
  readonly onFault: (error: unknown) => void;
}

/**
 * One prompt and all messages until the agent stops. Answers go to the running agent: the protocol cannot ask again
 * later, so the process stays alive while it waits for a person.
 */
export class AcpLeg implements Leg {
  readonly #parts: LegParts;
  readonly #queue = new EventQueue();
  readonly #stop = new AbortController();
  readonly #turn: Turn;
  #process: AgentProcess | undefined;
  /** Counts the processes started in this leg that still run. */
  #countRemaining = async () => 0;
  #isPrompted = false;
  #breach: LegFailure | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: LegParts) {
    this.#parts = parts;
    const { agent, holdsLease, settings } = parts.context;
    const { tools, asksUser } = settings;
    this.#turn = new Turn({
      agent,
      tools,
      asksUser,
      holdsLease,
      queue: this.#queue,
      before: this.#progressBefore(),
      onProgress: () => this.#point(),
      model: () => agent.model ?? this.#process?.model,
      redact: (text) => this.#process?.redact(text) ?? text,
      onBreach: (failure) => void this.#onBreach(failure),
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#parts.context;
    const cancel = () => void this.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    this.#running = this.#run().then((end) => this.#queue.push(this.#withState(end)));
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
    if (this.#stop.signal.aborted || this.#queue.isEnded) return;
    this.#stop.abort();
    // Cancel before rejecting open requests: an agent that sees a rejection first continues with something else.
    if (this.#isPrompted) await this.#process?.cancel();
    this.#turn.cancel();
  }

  async kill(): Promise<void> {
    this.#stop.abort();
    this.#turn.cancel();
    this.#queue.push({ type: 'end', outcome: 'cancelled' });
    await this.#process?.kill();
    await this.#running;
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
      const { process, memory } = await open(this.#stop.signal);
      this.#process = process;
      this.#countRemaining = await process.mark();
      if (this.#stop.signal.aborted) {
        this.#parts.onFree(process);
        return { type: 'end', outcome: 'cancelled' };
      }
      if (input.kind === 'continue' && memory !== 'kept') throw sessionLost();
      this.#begin(process, memory);
      this.#isPrompted = true;
      const response = await process.prompt(this.#prompts(memory));
      if (this.#breach !== undefined) return this.#breach.end;
      await this.#release(process);
      return this.#ended(response);
    } catch (error) {
      if (this.#breach !== undefined) return this.#breach.end;
      await this.#recover(error);
      if (this.#stop.signal.aborted) return { type: 'end', outcome: 'cancelled' };
      if (error instanceof LegFailure) return error.end;
      onFault(error);
      return new LegFailure('agent_error', 'The ACP connection failed unexpectedly.').end;
    }
  }

  #begin(process: AgentProcess, memory: OpenProcess['memory']): void {
    this.#point();
    if (memory === 'lost') {
      const reason = 'the agent no longer has the conversation and begins a new one';
      this.#queue.push({ type: 'custom', name: 'session_lost', data: { reason } });
    }
    process.listen(this.#turn);
  }

  #prompts(memory: OpenProcess['memory']): readonly string[] {
    const { input, context } = this.#parts;
    if (input.kind === 'continue') {
      return [continuePrompt(context.prompt, this.#progressBefore().calls)];
    }
    const { instructions } = context.settings;
    // The protocol has no field for instructions: they are sent before the first prompt.
    const opening = memory === 'kept' || instructions === '' ? [] : [instructions];
    return [...opening, context.prompt];
  }

  #progressBefore(): Progress {
    const { context, input } = this.#parts;
    const state = stateOf(context.state);
    const isOwn = input.kind === 'continue' && state?.run === context.runId;
    return (isOwn ? state.progress : undefined) ?? { requests: 0, calls: [] };
  }

  /** A recovery point: the agent's own session, and what is known of the run. */
  #point(): void {
    const process = this.#process;
    if (process === undefined) return;
    const { runId: run } = this.#parts.context;
    const state = { session: process.session, run, progress: this.#turn.progress };
    this.#queue.push({ type: 'checkpoint', state, recovery: true });
  }

  #withState(end: LegEnd): LegEnd {
    const process = this.#process;
    if (process === undefined) return end;
    return { ...end, state: { session: process.session, run: this.#parts.context.runId } };
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
    if (count === 0) {
      this.#parts.onFree(process);
      return;
    }
    this.#queue.push({ type: 'custom', name: 'processes_ended', data: { count } });
    await process.kill();
  }

  /** Some agents report `cancelled` when a person refused a call: only our own cancel counts. */
  #ended(response: PromptResponse): LegEnd {
    const usage = usageIn.safeParse(response).data?.usage;
    if (usage !== undefined) this.#queue.push({ type: 'usage', ...usageOf(usage) });
    if (this.#stop.signal.aborted) return { type: 'end', outcome: 'cancelled' };
    if (response.stopReason === 'refusal') {
      return new LegFailure('model_error', 'The model refused to continue.').end;
    }
    if (response.stopReason !== 'end_turn') {
      const data = { stop_reason: response.stopReason };
      this.#queue.push({ type: 'custom', name: 'stopped', data });
    }
    return { type: 'end', outcome: 'completed' };
  }

  async #onBreach(failure: LegFailure): Promise<void> {
    if (this.#breach !== undefined) return;
    this.#breach = failure;
    this.#queue.push(failure.end);
    await this.#process?.kill();
  }
}

function sessionLost(): LegFailure {
  const reason = 'The agent no longer has its session, so the run cannot go on.';
  return new LegFailure('agent_error', reason);
}

const noSecrets = redactor([]);

/** Not yet part of the protocol, but sent by some agents. */
const count = z.number().int().min(0);
const usageIn = z.looseObject({
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

function usageOf(usage: NonNullable<z.infer<typeof usageIn>['usage']>) {
  const { inputTokens, outputTokens, cachedReadTokens, thoughtTokens } = usage;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: cachedReadTokens ?? 0,
    reasoningTokens: thoughtTokens ?? 0,
  };
}
