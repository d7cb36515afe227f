import type { StreamResponse } from '@a2a-js/sdk';
import { redactAll, redactor, resolveReferences } from '../../agents/secret-references.ts';
import type { Json } from '../../domain/json.ts';
import type { AllowList } from '../../egress/allow-list.ts';
import { NameLookup } from '../../egress/name-lookup.ts';
import { Unreachable } from '../../egress/unreachable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HarnessEvent, Leg, LegContext, LegEnd, LegInput } from '../../ports/harness.ts';
import type { Log } from '../../ports/log.ts';
import { inBackground } from '../../runtime/in-background.ts';
import { within } from '../../runtime/within.ts';
import { redactedEvent } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { MessageTranslator } from './message-translator.ts';
import { Remote } from './remote.ts';
import { type A2aSettings, clientIdName, clientSecretName, tokenName } from './settings.ts';
import { type Start, callOf, refOf, startOf } from './start.ts';
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
 *
 * Sending a message is a call of the ledger (D-80): it has ended once its task has a name. From then on every response
 * is stored with a recovery point behind it, so a leg that resumes asks for the task and emits what was not said yet.
 */
export class A2aLeg implements Leg {
  readonly #parts: A2aParts;
  readonly #context: LegContext<A2aSettings>;
  readonly #abort = new AbortController();
  readonly #start: Start;
  readonly #translator: MessageTranslator;
  #remote: Remote | undefined;
  readonly #taskKnown = Promise.withResolvers<void>();
  #redact = (text: string) => text;
  /** While a message is being sent it is not known whether it arrived: no safe point. */
  #phase: 'opening' | 'sending' | 'following' = 'opening';
  #isCancelled = false;
  #cancelling: Promise<void> | undefined;
  #isYielding = false;

  constructor(parts: A2aParts, input: LegInput, context: LegContext<A2aSettings>) {
    this.#parts = parts;
    this.#context = context;
    this.#start = startOf(input, context);
    this.#translator = new MessageTranslator(
      this.#start.kind === 'attach' ? this.#start.followed : this.#start.before,
    );
    this.#translator.context = stateOf(context.state)?.context ?? '';
    if (this.#start.kind === 'attach') this.#translator.task = this.#start.followed.task;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#context;
    const stop = () => inBackground(this.kill());
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      for await (const event of this.#run()) yield redactedEvent(event, this.#redact);
    } catch (error) {
      yield redactedEvent(this.#failed(error), this.#redact);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#taskKnown.resolve();
      this.#abort.abort();
    }
  }

  async answer(): Promise<boolean> {
    // A question ends the leg: the next leg gets the answer.
    return false;
  }

  async cancel(): Promise<void> {
    this.#isCancelled = true;
    await (this.#cancelling ??= this.#cancel());
  }

  async #cancel(): Promise<void> {
    if (this.#phase !== 'opening') {
      // A task can be cancelled only by its id, which comes with the first response.
      await this.#withTimeout(taskIdMs, () => this.#taskKnown.promise);
      await this.#cancelTask(this.#translator.task);
    }
    this.#abort.abort();
  }

  /** The remote task continues: the leg only stops listening. A message that is being sent is waited for. */
  async yield(): Promise<void> {
    if (this.#isCancelled) return;
    this.#isYielding = true;
    if (this.#phase !== 'sending') this.#abort.abort();
  }

  /** The task runs remotely: it can only be cancelled. The task of a run that continues elsewhere is left alone. */
  async kill(): Promise<void> {
    if (!this.#isYielding && this.#context.holdsLease()) await this.cancel();
    this.#abort.abort();
  }

  async *#run(): AsyncGenerator<HarnessEvent, void> {
    const start = this.#start;
    if (start.kind === 'fail') throw new LegFailure('agent_error', start.reason);
    if (start.kind === 'attach' && start.followed.isDone) {
      const { output } = start.followed;
      const state = { context: this.#translator.context, waiting: null };
      yield { ...completed, state, ...(output !== undefined && { output }) };
      return;
    }
    const remote = await this.#open();
    const number = start.kind === 'attach' ? start.followed.message : start.number;
    const responses =
      start.kind === 'attach' ? this.#attach(remote) : await this.#send(remote, start);
    if (responses === undefined) {
      yield { type: 'end', outcome: 'yielded' };
      return;
    }
    for await (const response of responses) {
      const events = this.#translator.translate(response);
      const { task, progress } = this.#translator;
      if (task !== undefined) this.#taskKnown.resolve();
      if (task === undefined && progress.kind === 'working') {
        yield* events;
        continue;
      }
      yield* this.#withPoint(events, number);
      if (this.#phase === 'sending') await this.#arrived(number);
      if (progress.kind !== 'working') break;
      if (this.#isYielding && !this.#isCancelled) break;
    }
    const { progress, task = '' } = this.#translator;
    if (progress.kind === 'asking' && !this.#isCancelled) {
      const { question, mark: asked } = progress;
      const told = this.#translator.emittedLengths;
      const { runId: run } = this.#context;
      // Before the question: whatever is known of the question, its task is known too.
      yield this.#checkpoint({ run, task, number, asked, told });
      yield { type: 'user_question', ref: refOf(number), question };
    }
    yield this.#ended();
  }

  /** Sends the message, once its intent is durable. Undefined when the leg shall yield instead. */
  async #send(
    remote: Remote,
    { message, number, abandoned }: Extract<Start, { kind: 'send' }>,
  ): Promise<AsyncIterable<StreamResponse> | undefined> {
    const { effects, holdsLease } = this.#context;
    if (this.#isYielding && !this.#isCancelled) return undefined;
    this.#phase = 'sending';
    // A task that waits for an answer to an earlier run will never get one: cancel it.
    await this.#cancelTask(abandoned);
    const { id, text, task } = message;
    const input = { message_id: id, text, ...(task !== '' && { task_id: task }) };
    const names = { ref: callOf(number), toolName: 'message', kind: 'message' } as const;
    const call = { ...names, input, touches: 'outside' } as const;
    const begun = this.#isCancelled ? undefined : await effects.begin(call);
    const maySend = begun?.kind === 'begun' && holdsLease();
    if (!maySend) {
      throw new LegFailure('agent_error', 'The message to the remote agent could not be recorded.');
    }
    return remote.send(message, this.#translator, this.#abort.signal);
  }

  #attach(remote: Remote): AsyncIterable<StreamResponse> {
    this.#phase = 'following';
    this.#taskKnown.resolve();
    return remote.attach(this.#translator, this.#abort.signal);
  }

  /** The message has its task: the ledger knows that it arrived. */
  async #arrived(number: number): Promise<void> {
    this.#phase = 'following';
    const { task = '' } = this.#translator;
    await this.#context.effects.end(callOf(number), { ok: true, output: task });
  }

  /** The events of a response, and a recovery point that is stored together with all of its text. */
  #withPoint(events: readonly HarnessEvent[], message: number): readonly HarnessEvent[] {
    const state = this.#stateAt(message);
    const texts = events.flatMap((event) => (event.type === 'message_delta' ? [event.text] : []));
    const others = events.filter(({ type }) => type !== 'message_delta');
    if (texts.length === 0) return [...others, { type: 'checkpoint', state, recovery: true }];
    return [...others, { type: 'message_delta', text: texts.join(''), point: state }];
  }

  #stateAt(message: number): Json {
    const { context, task = '', answered: asked, emittedLengths: told } = this.#translator;
    const { hasText, progress, output } = this.#translator;
    const { runId: run } = this.#context;
    const isDone = progress.kind === 'completed';
    const returned = isDone ? output : undefined;
    const followed = {
      run,
      task,
      message,
      asked,
      told,
      hasText,
      isDone,
      ...(returned !== undefined && { output: returned }),
    };
    return { context, waiting: null, followed };
  }

  async #open(): Promise<Remote> {
    const { connections, settings } = this.#context;
    const { url, env } = settings;
    const resolved = await resolveReferences(env, { connections });
    if (!resolved.ok) {
      throw new LegFailure('agent_error', `In the agent's env, ${resolved.message}`);
    }
    this.#redact = resolved.redact;
    const token = resolved.values[tokenName];
    const { trace } = this.#context;
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(trace && { traceparent: trace.traceparent }),
    };
    const [id, secret] = [resolved.values[clientIdName], resolved.values[clientSecretName]];
    const credentials = id === undefined || secret === undefined ? undefined : { id, secret };
    const { allow, clock } = this.#parts;
    const { signal } = this.#abort;
    this.#remote = await Remote.open({
      registered: url,
      allow,
      clock,
      headers,
      credentialName: credentials === undefined ? tokenName : clientSecretName,
      credentials,
      onToken: (issued) => {
        this.#redact = redactAll([resolved.redact, redactor([issued])]);
      },
      signal,
      resolve: new NameLookup({ clock }).resolve,
    });
    return this.#remote;
  }

  #checkpoint(waiting: A2aState['waiting']): HarnessEvent {
    const state = { context: this.#translator.context, waiting };
    return { type: 'checkpoint', state, recovery: true };
  }

  #ended(): LegEnd {
    const { context, progress, output } = this.#translator;
    const state = { context, waiting: null };
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled', state };
    switch (progress.kind) {
      case 'completed':
        return { ...completed, state, ...(output !== undefined && { output }) };
      case 'asking':
        return { type: 'end', outcome: 'waiting' };
      case 'cancelled':
        return { ...agentError('The remote agent cancelled the task.'), state };
      case 'failed':
        return { ...agentError(`The remote agent failed: ${progress.reason}`), state };
      case 'working':
        if (this.#isYielding) return { type: 'end', outcome: 'yielded' };
        return { ...agentError('The remote agent ended without an answer.'), state };
      default:
        return progress satisfies never;
    }
  }

  #failed(error: unknown): LegEnd {
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    if (error instanceof LegFailure) return error.end;
    if (this.#isYielding && this.#phase !== 'sending') return { type: 'end', outcome: 'yielded' };
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

const completed = { type: 'end', outcome: 'completed' } as const;

function agentError(message: string): LegEnd {
  return new LegFailure('agent_error', message).end;
}
