import { resolveReferences } from '../../agents/secret-references.ts';
import type { AllowList } from '../../egress/allow-list.ts';
import { Unreachable } from '../../egress/guarded-fetch.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  Answer,
  HarnessEvent,
  Leg,
  LegContext,
  LegEnd,
  LegInput,
} from '../../ports/harness.ts';
import type { Log } from '../../ports/log.ts';
import { within } from '../../runtime/within.ts';
import { redactedEvent } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { MessageTranslator } from './message-translator.ts';
import { Remote, type UserMessage } from './remote.ts';
import { type A2aSettings, tokenName } from './settings.ts';
import { type A2aState, stateOf } from './state.ts';

/** How long a remote agent may take to confirm that it cancelled a task. */
const cancelMs = 5000;
/** How long a remote agent may take to send the id of a new task. */
const taskIdMs = 2000;

export interface A2aParts {
  readonly allow: AllowList;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * One message to a remote agent, and its responses until the task completes, fails or asks. A question parks the run:
 * the agent keeps its task, and the answer is the next message to it.
 */
export class A2aLeg implements Leg {
  readonly #parts: A2aParts;
  readonly #input: LegInput;
  readonly #context: LegContext<A2aSettings>;
  readonly #abort = new AbortController();
  readonly #translator: MessageTranslator;
  #remote: Remote | undefined;
  readonly #taskKnown = Promise.withResolvers<void>();
  #redact = (text: string) => text;
  #isSent = false;
  #isCancelled = false;

  constructor(parts: A2aParts, input: LegInput, context: LegContext<A2aSettings>) {
    this.#parts = parts;
    this.#input = input;
    this.#context = context;
    const before = input.kind === 'resume' ? stateOf(context.state)?.waiting : undefined;
    this.#translator = new MessageTranslator(before ?? undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#context;
    const cancel = () => void this.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      for await (const event of this.#run()) yield redactedEvent(event, this.#redact);
    } catch (error) {
      yield redactedEvent(this.#failed(error), this.#redact);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#taskKnown.resolve();
      this.#abort.abort();
    }
  }

  async answer(): Promise<boolean> {
    // A question ends the leg: the next leg gets the answer.
    return false;
  }

  async cancel(): Promise<void> {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    if (this.#isSent) {
      // A task can be cancelled only by its id, which comes with the first response.
      await this.#withTimeout(taskIdMs, () => this.#taskKnown.promise);
      await this.#cancelTask(this.#translator.task);
    }
    this.#abort.abort();
  }

  /** The task runs remotely: it can only be cancelled. */
  async kill(): Promise<void> {
    await this.cancel();
    this.#abort.abort();
  }

  async *#run(): AsyncGenerator<HarnessEvent, void> {
    const { state, runId } = this.#context;
    const known = stateOf(state);
    const message = this.#message(known);
    const remote = await this.#open();
    // A task that waits for an answer to an earlier run will never get one: cancel it.
    if (this.#input.kind === 'prompt') await this.#cancelTask(known?.waiting?.task);
    this.#isSent = true;
    for await (const response of remote.send(message, this.#translator, this.#abort.signal)) {
      const { context } = this.#translator;
      yield* this.#translator.translate(response);
      this.#taskKnown.resolve();
      if (context !== this.#translator.context) yield this.#checkpoint(null);
      if (this.#translator.progress.kind !== 'working') break;
    }
    const { progress, task = '' } = this.#translator;
    if (progress.kind === 'asking' && !this.#isCancelled) {
      const number = (this.#input.kind === 'resume' ? (known?.waiting?.number ?? 0) : 0) + 1;
      const ref = refOf(number);
      yield { type: 'user_question', ref, question: progress.question };
      yield this.#checkpoint({
        run: runId,
        task,
        number,
        asked: progress.mark,
        told: this.#translator.emittedLengths,
      });
    }
    yield this.#ended();
  }

  #message(known: A2aState | undefined): UserMessage {
    const { runId, prompt } = this.#context;
    if (this.#input.kind === 'prompt') {
      return { id: runId, text: prompt, context: known?.context ?? '', task: '' };
    }
    const waiting = known?.waiting;
    const ref = refOf(waiting?.number ?? 0);
    const answer = this.#input.answers.get(ref);
    if (waiting?.run !== runId || known === undefined || answer === undefined) {
      throw new LegFailure('agent_error', 'The run has no open question to resume.');
    }
    return {
      id: `${runId}-${ref}`,
      text: answerText(answer),
      context: known.context,
      task: waiting.task,
    };
  }

  async #open(): Promise<Remote> {
    const { url, env } = this.#context.settings;
    const resolved = await resolveReferences(env);
    if (!resolved.ok) {
      throw new LegFailure('agent_error', `In the agent's env, ${resolved.message}`);
    }
    this.#redact = resolved.redact;
    const token = resolved.values[tokenName];
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { allow, clock } = this.#parts;
    const { signal } = this.#abort;
    this.#remote = await Remote.open({
      registered: url,
      allow,
      clock,
      headers,
      credentialName: tokenName,
      signal,
    });
    return this.#remote;
  }

  #checkpoint(waiting: A2aState['waiting']): HarnessEvent {
    return { type: 'checkpoint', state: { context: this.#translator.context, waiting } };
  }

  #ended(): LegEnd {
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    const { progress } = this.#translator;
    switch (progress.kind) {
      case 'completed':
        return { type: 'end', outcome: 'completed' };
      case 'asking':
        return { type: 'end', outcome: 'waiting' };
      case 'cancelled':
        return agentError('The remote agent cancelled the task.');
      case 'failed':
        return agentError(`The remote agent failed: ${progress.reason}`);
      case 'working':
        return agentError('The remote agent ended without an answer.');
      default:
        return progress satisfies never;
    }
  }

  #failed(error: unknown): LegEnd {
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    if (error instanceof LegFailure) return error.end;
    if (error instanceof Unreachable) return agentError(`The remote agent: ${error.message}.`);
    const { log } = this.#parts;
    const reason = error instanceof Error ? error.message : 'unknown error';
    // The message may contain remote text: it goes to the caller of the run, and only the error's name to the log.
    const kind = error instanceof Error ? error.name : typeof error;
    log.warn('remote agent failed', { run_id: this.#context.runId, error: kind });
    return agentError(`Communication with the remote agent failed: ${reason}`);
  }

  /** Best effort: the run ends whether it succeeds or not. */
  async #cancelTask(task: string | undefined): Promise<void> {
    const remote = this.#remote;
    if (task === undefined || remote === undefined) return;
    await this.#withTimeout(cancelMs, (signal) =>
      remote.cancel(task, signal).catch(() => undefined),
    );
  }

  async #withTimeout(ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const late = new AbortController();
    const outcome = await within(
      { clock: this.#parts.clock, ms, late: 'late' as const },
      work(late.signal),
    );
    if (outcome === 'late') late.abort();
  }
}

function refOf(number: number): string {
  return `question-${number}`;
}

function answerText(answer: Answer): string {
  if (answer.kind === 'permission') return answer.allow ? 'yes' : 'no';
  if ('declined' in answer) return `I would rather not answer. ${answer.reason ?? ''}`.trim();
  return answer.values.join(', ');
}

function agentError(message: string): LegEnd {
  return new LegFailure('agent_error', message).end;
}
