import { AwaitedCalls } from './awaited-calls.ts';
import { Deliveries } from './deliveries.ts';
import { Denied, InDoubt, Misuse, ModelFailed, StepFailed } from './failures.ts';
import { type Json, NotJson, jsonCopy } from './json.ts';
import type { CallRefused, EndMessage, KitMessage, ServerMessage, StartMessage } from './lines.ts';
import { Progress } from './progress.ts';
import { Replay, isForeign } from './replay.ts';
import type { StoredResult } from './results.ts';

export interface LegParts {
  readonly start: StartMessage;
  readonly send: (message: KitMessage) => void;
  /** Called with true while the function waits for the server, and with false when it no longer does. */
  readonly onHold?: (isHeld: boolean) => void;
  /** Returns the line of the agent that an error came from, for the end of its message. */
  readonly locate?: (error: Error) => string;
}

/** The server's reply to the intent of a call. */
export type IntentReply = { readonly effect: 'allow'; readonly key: string } | CallRefused;

/**
 * Where a leg is. It only moves down this list:
 *
 * - `running`: the function runs, and steps may begin.
 * - `yielding`: the server has asked for the run. No further step begins; those that run end first. Only a framework
 *   that makes its own recovery points still begins steps, until it has stopped at one.
 * - `ending`: the function has returned or thrown. No step begins; steps that the function did not await end first.
 * - `over`: the `end` was sent, and nothing follows it (L14).
 *
 * A cancel is no phase: it can come in all of them but the last. It aborts `signal`, and the leg ends `cancelled` when
 * the function has returned or thrown.
 */
type Phase = (typeof phases)[number];
const phases = ['running', 'yielding', 'ending', 'over'] as const;

/**
 * One leg of a run: calls the agent function from its first line, with all results and answers of the run (L1). A step
 * that has ended returns its stored result, any other step runs (D-161). DESIGN.md has the invariants.
 */
export class Leg {
  readonly #parts: LegParts;
  readonly replay: Replay;
  readonly #deliveries = new Deliveries();
  readonly #abort = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  readonly #begins = new Map<string, PromiseWithResolvers<IntentReply>>();
  readonly #questions: PromiseWithResolvers<never>[] = [];
  readonly progress: Progress;
  readonly calls = new AwaitedCalls();
  #running = 0;
  #onIdle: (() => void)[] = [];
  #phase: Phase = 'running';
  /**
   * Whether a step did not begin because the server has asked for the run: then the next leg has work to do at once.
   */
  #hasHeldBack = false;
  /**
   * What the author is told who waits in a task of a framework: it would hold the leg for ever. Set while its tasks
   * run.
   */
  taskWaits: string | undefined;
  /** Set by a framework that makes its own recovery points. Called when the server asks for the run. */
  #onYield: (() => void) | undefined;

  constructor(parts: LegParts) {
    this.#parts = parts;
    this.replay = new Replay(parts.start);
    this.progress = new Progress(parts.start, this.replay, (message) => this.send(message));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get start(): StartMessage {
    return this.#parts.start;
  }

  /** Whether a step runs, or is about to. */
  get isWorking(): boolean {
    return this.#running > 0;
  }

  get mayBegin(): boolean {
    return this.#phase === 'yielding' ? this.progress.hasOwnPoints : this.#phase === 'running';
  }

  /**
   * Leaves recovery points to a framework (D-182): steps end without one, and still begin after a yield until the
   * framework has stopped where it can continue. The framework calls `stepStarted` and `stepEnded` around its work.
   */
  async withOwnPoints(body: () => Promise<void>, onYield: () => void): Promise<void> {
    this.progress.hasOwnPoints = true;
    this.#onYield = onYield;
    if (this.#phase === 'yielding') onYield();
    try {
      await body();
    } finally {
      this.progress.hasOwnPoints = false;
      this.#onYield = undefined;
    }
  }

  /** Resolves when the leg has ended. */
  async run(body: () => unknown): Promise<void> {
    const { start } = this.#parts;
    if (isForeign(start) && start.input.kind === 'prompt') {
      this.send({ type: 'custom', name: 'state_ignored', data: {} });
    }
    await Promise.race([this.#over.promise, this.#perform(body)]);
  }

  receive(message: ServerMessage): void {
    switch (message.type) {
      case 'call_begun':
        this.#settle(message.call_id, { effect: 'allow', key: message.idempotency_key });
        break;
      case 'call_refused':
        this.#settle(message.call_id, message);
        break;
      case 'yield':
        this.#enter('yielding');
        this.#onYield?.();
        this.#endIfIdle();
        break;
      case 'cancel':
        this.#cancel();
        break;
      case 'ping':
        // The launcher answers.
        break;
      default:
        // A newer server may send other messages.
        message satisfies never;
    }
  }

  /** Ends the leg while the function runs: an error was not caught anywhere, or the process ends. */
  fail(error: unknown): void {
    this.#end(this.#failure(error));
  }

  /** Throws if the run was cancelled. Every call of `ctx` begins with it. */
  guard(): void {
    this.#abort.signal.throwIfAborted();
  }

  stepStarted(): void {
    this.#running += 1;
  }

  /** A step does not begin, because the server has asked for the run. */
  holdBack(): void {
    this.#hasHeldBack = true;
    this.stepEnded();
  }

  stepEnded(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
    this.#endIfIdle();
  }

  /** Resolves when the server has stored the intent (L2), or has refused it: the call must not be carried out then. */
  begin(call: Extract<KitMessage, { type: 'call_begin' }>): Promise<IntentReply> {
    const begin = Promise.withResolvers<IntentReply>();
    this.#begins.set(call.call_id, begin);
    this.#parts.onHold?.(true);
    this.send(call);
    return begin.promise;
  }

  #settle(ref: string, begun: IntentReply): void {
    const begin = this.#begins.get(ref);
    this.#begins.delete(ref);
    begin?.resolve(begun);
    this.#parts.onHold?.(this.#begins.size > 0);
  }

  /**
   * Asks a person, or waits for something else. The promise never resolves in this leg (L9): the run waits as a row,
   * and a later leg has the answer (D-167).
   */
  raise(request: Extract<KitMessage, { type: 'user_question' | 'permission_request' | 'wait' }>) {
    const question = Promise.withResolvers<never>();
    if (this.taskWaits !== undefined) {
      this.fail(new Misuse(this.taskWaits));
      return question.promise;
    }
    this.#questions.push(question);
    const isKnown = request.type === 'wait' && this.replay.waits.has(request.ref);
    if (!isKnown) this.send(request);
    this.#endIfIdle();
    return question.promise;
  }

  /** Resolves when all results before this one have reached the function (L5). */
  deliver({ order, said = [] }: StoredResult): Promise<void> {
    return this.#inTurn(order, () => {
      for (const emission of said) this.progress.say(emission);
    });
  }

  /** As `deliver`, for answers and calls that were left. The first time they come last, and get their order then. */
  deliverLast(ref: string, answer = ref): Promise<void> {
    return this.#deliverFirst(ref, this.replay.orderOfAnswer(answer));
  }

  /** As `deliverLast`, for a time or a message that has come. */
  deliverWait(ref: string, number: number): Promise<void> {
    return this.#deliverFirst(`${ref} wait`, this.replay.orderOfWait(number));
  }

  #deliverFirst(ref: string, firstOrder: number): Promise<void> {
    const order = this.progress.orderOf(ref);
    return this.#inTurn(order ?? firstOrder, () => {
      if (order === undefined) this.progress.assignOrder(ref);
    });
  }

  /** Resolves when every stored result that the function has asked for has reached it. */
  quiet(): Promise<void> {
    return new Promise((resolve) => this.#deliveries.whenQuiet(resolve));
  }

  #inTurn(order: number, before: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#deliveries.add(order, () => {
        if (this.#phase === 'over') return;
        before();
        if (this.signal.aborted) reject(this.signal.reason as Error);
        else resolve();
        this.#endIfIdle();
      });
    });
  }

  /** Ends the leg if it waits or was asked to yield, and nothing moves any more (L10, D-169). */
  #endIfIdle(): void {
    if (!this.#mayLeave) return;
    this.#deliveries.whenQuiet(() => {
      if (!this.#mayLeave || this.#running > 0 || this.signal.aborted) return;
      this.send({ type: 'checkpoint', state: this.progress.point(), recovery: true });
      const isWaiting = this.#questions.length > 0 && !this.#hasHeldBack;
      this.#end({ type: 'end', outcome: isWaiting ? 'waiting' : 'yielded' });
    });
  }

  get #mayLeave(): boolean {
    const isWaiting = this.#phase === 'running' && this.#questions.length > 0;
    return isWaiting || this.#phase === 'yielding';
  }

  #cancel(): void {
    const reason = new DOMException('The run was cancelled.', 'AbortError');
    this.#abort.abort(reason);
    for (const begin of this.#begins.values()) begin.reject(reason);
    this.#begins.clear();
    this.#parts.onHold?.(false);
    for (const question of this.#questions.splice(0)) question.reject(reason);
  }

  async #perform(body: () => unknown): Promise<void> {
    try {
      const returned = await body();
      this.calls.check();
      const output = this.#outputOf(returned);
      await this.#idle();
      this.#end({
        type: 'end',
        outcome: 'completed',
        ...(output !== undefined && { output }),
        state: { convoke: 1, state: this.progress.stateNow() },
      });
    } catch (error) {
      await this.#idle();
      this.#end(this.#failure(error));
    }
  }

  /** What the run returns (D-568). Without an `output_schema`, a text that the function returns is said instead. */
  #outputOf(returned: unknown): Json | undefined {
    const { output_schema: schema = null } = this.start.agent;
    if (typeof returned === 'string' && schema === null) {
      this.progress.say({ type: 'message_delta', text: returned });
      return undefined;
    }
    return jsonCopy(returned, 'result') as Json | undefined;
  }

  /** Waits for the steps that the function did not await: they end before the run does. */
  async #idle(): Promise<void> {
    this.#enter('ending');
    if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #failure(error: unknown): EndMessage {
    const state = this.progress.stateBefore;
    if (this.signal.aborted) return { type: 'end', outcome: 'cancelled', state };
    const isOfStep =
      error instanceof StepFailed || error instanceof InDoubt || error instanceof Denied;
    const code = isOfStep
      ? 'tool_error'
      : error instanceof ModelFailed
        ? 'model_error'
        : 'agent_error';
    const message = isOfStep
      ? `step "${error.step}": ${error.message}`
      : described(error, this.#parts.locate);
    return { type: 'end', outcome: 'error', code, message, state };
  }

  #end(end: EndMessage): void {
    if (this.#phase === 'over') return;
    this.send(end);
    this.#enter('over');
    this.#over.resolve();
  }

  #enter(phase: Phase): void {
    if (phases.indexOf(phase) > phases.indexOf(this.#phase)) this.#phase = phase;
  }

  send(message: KitMessage): void {
    if (this.#phase !== 'over') this.#parts.send(message);
  }
}

function described(error: unknown, locate: LegParts['locate'] = () => ''): string {
  if (!(error instanceof Error)) return `The agent function threw ${aKindOf(error)}.`;
  const isOurs = [Misuse, NotJson, ModelFailed].some((kind) => error instanceof kind);
  const message = `${isOurs ? '' : `${error.name}: `}${error.message}`;
  return message.endsWith('.')
    ? `${message.slice(0, -1)}${locate(error)}.`
    : `${message}${locate(error)}`;
}

function aKindOf(value: unknown): string {
  if (value === null || typeof value === 'string') return JSON.stringify(value);
  return Array.isArray(value)
    ? 'an array'
    : typeof value === 'object'
      ? 'an object'
      : `a ${typeof value}`;
}
