import { redactor } from '../../agents/secret-references.ts';
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
import type { Sandbox } from '../../ports/sandbox.ts';
import { inBackground } from '../../runtime/in-background.ts';
import { EventQueue } from '../event-queue.ts';
import { redactedEvent, redactedSpeech } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { GrantedCalls, type ParkedRequest, nothingSettled } from '../parked-requests.ts';
import { interactionEvents } from './approvals.ts';
import { type Beginning, beginningOf } from './beginning.ts';
import { CallGate, recordResults } from './call-gate.ts';
import { Interruption } from './interruption.ts';
import { MessageCalls } from './message-calls.ts';
import { MessageTranslator, type Translation } from './message-translator.ts';
import { type ClaudeMessage, readMessage } from './messages.ts';
import { endOfFailure, isSessionMissing, sessionLost } from './failure.ts';
import { PermissionHook } from './permission-hook.ts';
import { LegPhase } from './phase.ts';
import type { ClaudeProcess } from './process.ts';
import { LegProgress } from './progress.ts';
import { prepareQueries } from './queries.ts';
import type { ClaudeSdk, Query } from './sdk.ts';
import type { ClaudeSettings } from './settings.ts';
import type { Deferred } from './state.ts';
import { type CallRecords, refuseUnasked } from './unasked-calls.ts';
import { callsMade, promptOf, promptToBeginAgain, repeatableByMistake } from './unfinished.ts';

/** Time for Claude to store its session after the result. */
const shutdownMs = 10_000;
/** If Claude has not repeated a deferred call by then, it has none. */
const settleMs = 20_000;
const eventsHeldMax = 1024;

export interface ClaudeParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly load: () => Promise<ClaudeSdk>;
}

/** One leg is one process of Claude, from a prompt or an answer to its result. Its states are those of `LegPhase`. */
export class ClaudeLeg implements Leg {
  readonly #parts: ClaudeParts;
  readonly #input: LegInput;
  readonly #context: LegContext<ClaudeSettings>;
  readonly #queue = new EventQueue();
  readonly #abort = new AbortController();
  /** Resolved when no more input will be sent to Claude. */
  readonly #done = Promise.withResolvers<void>();
  /** Resolved when the deferred call of an earlier run, if any, has been refused. */
  readonly #settled = Promise.withResolvers<void>();
  readonly #from: Beginning;
  readonly #phase: LegPhase;
  readonly #progress: LegProgress;
  readonly #granted: GrantedCalls;
  readonly #calls: MessageCalls;
  readonly #gate: CallGate;
  readonly #permissionHook: PermissionHook;
  readonly #translator: MessageTranslator;
  #redact = redactor([]);
  #process: ClaudeProcess | undefined;
  #query: Query | undefined;
  #running: Promise<void> | undefined;
  /** Set while `yielding`, when the turn was interrupted: holds what Claude says after that. */
  #interruption: Interruption | undefined;

  constructor(parts: ClaudeParts, input: LegInput, context: LegContext<ClaudeSettings>) {
    this.#parts = parts;
    this.#input = input;
    this.#context = context;
    const { agent, settings, effects, holdsLease, runId } = context;
    const from = beginningOf(input, context);
    this.#from = from;
    this.#phase = new LegPhase(from.mustSettle);
    const awaitsDeferred = input.kind === 'continue' && from.deferred !== undefined;
    if (!from.mustSettle && !awaitsDeferred) this.#settled.resolve();
    this.#progress = new LegProgress(from, runId);
    this.#granted = new GrantedCalls(from.progress?.asked ?? [], from.settled ?? nothingSettled);
    this.#calls = new MessageCalls(parts.clock);
    const redact = (text: string) => this.#redact(text);
    this.#gate = new CallGate({ effects, queue: this.#queue, settings, redact });
    this.#permissionHook = new PermissionHook({
      settings,
      givesOutput: agent.output !== undefined,
      calls: this.#calls,
      gate: this.#gate,
      deferred: from.before?.deferred ?? undefined,
      settled: from.deferred && from.settled,
      granted: this.#granted,
      made: repeatableByMistake(from),
      mustYield: () => this.#phase.mustYield,
      onAsk: (requests) => this.#onAsk(requests),
      onAnswered: (refs) => this.#progress.answered(refs),
      emit: (event) => this.#emit(event),
      holdsLease,
    });
    this.#translator = new MessageTranslator({ agent, calls: this.#calls });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#context;
    const cancel = () => inBackground(this.cancel());
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const ended = this.#run().then((end) => this.#emit(end));
    this.#running = ended.catch((error: unknown) => this.#queue.fail(error));
    try {
      yield* redactedSpeech(this.#queue, () => this.#redact);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  async answer(ref: string, answer: Answer): Promise<boolean> {
    return this.#permissionHook.answer(ref, answer);
  }

  async cancel(): Promise<void> {
    if (this.#phase.isCancelled || this.#queue.isEnded) return;
    this.#phase.cancel();
    this.#permissionHook.close();
    // Fails when there is nothing to interrupt; the process still ends when its input ends.
    await this.#query?.interrupt().catch(() => undefined);
    this.#finish();
  }

  async yield(): Promise<void> {
    if (this.#queue.isEnded) return;
    this.#phase.yield();
    this.#handOverIfSafe();
  }

  async redact(text: string): Promise<string> {
    return this.#redact(text);
  }

  async kill(): Promise<void> {
    this.#phase.cancel();
    this.#permissionHook.close();
    this.#finish();
    this.#emit({ type: 'end', outcome: 'cancelled' });
    this.#abort.abort();
    await this.#process?.end();
    await this.#running;
  }

  async #run(): Promise<LegEnd> {
    try {
      const end = await this.#converse();
      const { state } = end;
      if (this.#phase.isGivenBack) return { type: 'end', outcome: 'yielded' };
      if (!this.#phase.isCancelled) return end;
      return { type: 'end', outcome: 'cancelled', ...(state !== undefined && { state }) };
    } catch (error) {
      return await this.#failed(error);
    } finally {
      this.#finish();
      await this.#process?.end();
    }
  }

  #finish(): void {
    this.#phase.finish();
    this.#done.resolve();
    this.#settled.resolve();
  }

  async #converse(): Promise<LegEnd> {
    const { deferred, before, isForeign } = this.#from;
    if (this.#input.kind === 'resume' && deferred === undefined) {
      throw new LegFailure('agent_error', 'The run has no deferred call to resume.');
    }
    if (isForeign) throw sessionLost();
    const queries = await prepareQueries({
      ...this.#parts,
      context: this.#context,
      permissionHook: this.#permissionHook,
      abort: this.#abort,
      onSpawn: (process) => (this.#process = process),
    });
    this.#redact = queries.redact;
    const ended = deferred && (await this.#beginDeferred(deferred));
    if (ended !== undefined) return ended;
    if (this.#phase.isCancelled) return { type: 'end', outcome: 'cancelled' };
    const ask = (text: string | undefined, session: string | undefined) => {
      this.#query = queries.start(this.#prompts(text), session);
      this.#handOverIfSafe();
      return this.#listen(this.#query);
    };
    this.#parts.clock.after(settleMs, () => {
      if (!this.#permissionHook.hasDecided(before?.deferred?.id ?? '')) this.#endSettling();
    });
    const end = await ask(promptOf(this.#from, this.#context.prompt), before?.session);
    if (end !== 'session missing') return end;
    await this.#process?.end();
    this.#permissionHook.expectRepetitions(callsMade(this.#input));
    const again = await ask(promptToBeginAgain(this.#from, this.#context), undefined);
    return again === 'session missing' ? sessionLost().end : again;
  }

  async #listen(query: Query): Promise<LegEnd | 'session missing'> {
    let end: LegEnd | undefined;
    try {
      for await (const message of query) {
        end ??= await this.#onMessage(message);
        if (this.#queue.size >= eventsHeldMax) await this.#queue.drained();
      }
    } catch (error) {
      // The SDK throws again for a result that is an error.
      end ??= await this.#failed(error);
    }
    end ??= new LegFailure('agent_error', 'Claude ended without a result.').end;
    if (!isSessionMissing(end, this.#input)) return end;
    // A session that began in this run holds nothing that the run does not know.
    const { isNewSession, before } = this.#from;
    return isNewSession && before?.deferred === null ? 'session missing' : sessionLost().end;
  }

  /**
   * Writes the intent of the deferred call before Claude starts: the resumed process may make it before it asks.
   * Returns the end of a leg that needs no process, because a person has to be asked first.
   */
  async #beginDeferred(deferred: Deferred): Promise<LegEnd | undefined> {
    const decision = await this.#permissionHook.decideDeferred(deferred);
    const { isHandedOver: _, ...asked } = deferred;
    if (decision.kind === 'ask') return this.#waitFor(asked);
    if (decision.kind === 'deny') return undefined;
    const call = { ...deferred, input: decision.input ?? deferred.input };
    const begun = await this.#gate.begin(call);
    if (begun.kind === 'ask') return this.#waitFor(asked);
    // Of a denial Claude learns when it makes the call.
    if (begun.kind !== 'left') return undefined;
    throw new LegFailure('agent_error', 'The deferred call cannot be made: it was made before.');
  }

  /** Input for Claude: a prompt, or nothing when a deferred call resumes. */
  async *#prompts(text: string | undefined): AsyncGenerator<unknown, void> {
    await this.#settled.promise;
    if (text !== undefined && this.#phase.takesInput) {
      const message = { role: 'user', content: [{ type: 'text', text }] };
      yield { type: 'user', message, parent_tool_use_id: null };
    }
    await this.#done.promise;
  }

  async #onMessage(given: unknown): Promise<LegEnd | undefined> {
    const message = readMessage(given);
    if (message === undefined) return undefined;
    if (message.type === 'user') await refuseUnasked(message, this.#callRecords);
    const { events, result } = this.#translator.translate(message);
    if (this.#phase.isSettling) return this.#settle({ events, ...(result && { result }) });
    if (message.type === 'user') await recordResults(message, this.#gate, this.#calls);
    this.#pass(events);
    this.#follow(message);
    if (result !== undefined) return this.#end(result);
    this.#handOverIfSafe();
    return undefined;
  }

  get #callRecords(): CallRecords {
    return { permissionHook: this.#permissionHook, translator: this.#translator, gate: this.#gate };
  }

  /** Emits a recovery point behind whatever Claude stores in its session. */
  #follow(message: ClaudeMessage): void {
    if (message.type === 'system' && message.subtype === 'init') {
      this.#progress.session = message.session_id;
      this.#point();
    }
    // Messages of subagents are not part of the session.
    if ('parent_tool_use_id' in message && typeof message.parent_tool_use_id === 'string') return;
    if (message.type === 'stream_event' && message.event.type === 'message_start') {
      this.#progress.heard(this.#granted, this.#permissionHook.isAsking);
    } else if (message.type === 'assistant' || message.type === 'user') {
      this.#progress.deferred = null;
      if (message.type === 'assistant') this.#flush();
      this.#point();
    }
  }

  #end({ session, end, deferred, isError }: NonNullable<Translation['result']>): LegEnd {
    if (isSessionMissing(end, this.#input)) return end;
    this.#progress.session = session;
    this.#finish();
    this.#parts.clock.after(shutdownMs, () => inBackground(this.#process?.end()));
    const { hasRefused } = this.#permissionHook;
    const wasStopped = isError || hasRefused || this.#interruption?.wasAsking === true;
    if (this.#interruption !== undefined && wasStopped) return this.#handedOver(this.#interruption);
    this.#flush();
    if (deferred === undefined) return { ...end, state: { session, deferred: null } };
    const { runId: run } = this.#context;
    if (!this.#permissionHook.hasHandedOver(deferred.id))
      return this.#waitFor({ run, ...deferred });
    this.#progress.deferred = { run, ...deferred, isHandedOver: true };
    this.#point({ said: '' });
    return { type: 'end', outcome: 'yielded' };
  }

  /** The question is after the recovery point that names its call: a loss in between loses neither. */
  #waitFor(deferred: Deferred): LegEnd {
    this.#progress.deferred = deferred;
    this.#point();
    for (const event of interactionEvents(deferred)) this.#emit(event);
    return { type: 'end', outcome: 'waiting' };
  }

  /**
   * Interrupts the turn, so that another process can continue with it (D-85): when no call is under way. Claude keeps
   * what it has said by then. A request that waits for a person stays open; its answer goes to the next leg.
   */
  #handOverIfSafe(): void {
    if (!this.#phase.isYielding || this.#interruption !== undefined) return;
    if (this.#query === undefined || this.#gate.inFlight > 0) return;
    if (!this.#calls.hasBegun && this.#from.deferred === undefined) return this.#giveBack();
    const { isAsking } = this.#permissionHook;
    if (!this.#calls.isIdle && !isAsking) return;
    this.#interruption = new Interruption(isAsking);
    this.#permissionHook.close('The server is stopping.');
    // Fails when there is nothing to interrupt: then the turn has ended.
    this.#query.interrupt().catch(() => undefined);
  }

  /** Ends Claude before the model has begun to answer: the next leg starts from where this one did. */
  #giveBack(): void {
    this.#phase.giveBack();
    // The model may have been asked.
    this.#emit({ type: 'usage', inputTokens: 0, outputTokens: 0, isPartial: true });
    this.#finish();
    this.#abort.abort();
  }

  #handedOver(interruption: Interruption): LegEnd {
    for (const event of interruption.takeUnsaid()) this.#emit(event);
    this.#point({ said: this.#progress.saidWith(this.#redact) });
    // A call that began at the last moment was cut off.
    return { type: 'end', outcome: this.#gate.inFlight === 0 ? 'yielded' : 'cut' };
  }

  #pass(events: readonly HarnessEvent[]): void {
    if (this.#interruption === undefined) for (const event of events) this.#emit(event);
    else if (!this.#interruption.hold(events)) this.#abort.abort();
  }

  #flush(): void {
    for (const event of this.#interruption?.takeAll() ?? []) this.#emit(event);
  }

  #onAsk(requests: readonly ParkedRequest[]): void {
    this.#progress.ask(requests);
    this.#point();
    // The question itself comes first.
    queueMicrotask(() => this.#handOverIfSafe());
  }

  #point(more?: { readonly said?: string }): void {
    const point = this.#progress.point(more);
    if (point !== undefined) this.#emit(point);
  }

  /**
   * Claude first repeats the call that a cancelled run deferred. It is refused, and Claude's response to that is not
   * part of this run.
   */
  #settle({ result, events }: Translation): undefined {
    for (const event of events) if (event.type === 'usage') this.#emit(event);
    if (result === undefined) return;
    this.#progress.session = result.session;
    this.#progress.deferred = null;
    this.#emit({ type: 'checkpoint', state: { session: result.session, deferred: null } });
    this.#endSettling();
  }

  #endSettling(): void {
    this.#phase.settled();
    this.#settled.resolve();
  }

  #emit(event: HarnessEvent): void {
    this.#progress.say(event);
    this.#queue.push(redactedEvent(event, this.#redact));
  }

  async #failed(error: unknown): Promise<LegEnd> {
    if (this.#phase.isCancelled) return { type: 'end', outcome: 'cancelled' };
    if (error instanceof LegFailure) return error.end;
    if (this.#interruption !== undefined) return this.#handedOver(this.#interruption);
    return endOfFailure(error, this.#process);
  }
}
