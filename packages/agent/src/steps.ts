import { AsyncLocalStorage } from 'node:async_hooks';
import { continueAfterEdit } from './edits.ts';
import { Denied, InDoubt, Misuse, ModelFailed, StepFailed } from './failures.ts';
import { type Speaker, sizeOf } from './output-order.ts';
import { type Json, jsonCopy } from './json.ts';
import type { IntentReply, Leg } from './leg.ts';
import { never } from './deliveries.ts';
import type { Answer, CallRefused, Emission, KnownCall, SettledWait, Touches } from './lines.ts';
import {
  type Permission,
  type PermissionRequest,
  Permissions,
  type ToolCall,
  nameOfCall,
} from './permissions.ts';
import { type Scope, countName, digestOf, newScope, pathBelow, takeName } from './names.ts';
import { taskPath } from './replay.ts';
import {
  type Decision,
  type ModelRequest,
  type Question,
  type WaitedFor,
  remedyOf,
} from './requests.ts';
import {
  type Outcome,
  type StoredResult,
  outcomeOf,
  outcomeOfError,
  readResult,
  valueOf,
} from './results.ts';

/** How much text is stored with the result of a step that could not emit it, because another one had the floor. */
const saidCharactersMax = 256 * 1024;

/** The argument of a step's function. */
export interface StepCall {
  /** The same in every attempt, so that a service can recognize a repetition. */
  readonly key: string;
  /** The input as it was approved, where a person had to allow the step. */
  readonly input: Json;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
}

export interface StepOptions {
  /** Run again if its process was lost while it ran, without asking. For reads, and services that honour `key`. */
  readonly repeatable?: boolean;
  /** Shown to a person who has to allow the step, or to say whether it ran. */
  readonly input?: Json;
  /** The effects of the step: on files of the session, on the world outside, or (by default) on both. */
  readonly touches?: Touches;
}

/** The scope and the step that the current code belongs to. */
interface Position {
  readonly scope?: Scope;
  readonly step?: RunningStep;
  /** In a tool that is an agent itself. */
  readonly isNested?: boolean;
  /** Throws, so that a framework stops its task and has a person asked. Absent: the step itself waits. */
  readonly interrupt?: ((request: PermissionRequest) => never) | undefined;
}

/** `key` is the same in every leg, and each execution numbers its names from 1. */
export interface FrameworkTask extends Pick<Position, 'interrupt'> {
  readonly key: string;
  readonly execution: object;
}

interface RunningStep extends Speaker {
  readonly name: string;
  isOver: boolean;
}

interface Call {
  readonly ref: string;
  readonly name: string;
  readonly input: Json;
  readonly touches: Touches;
  readonly isRepeatable: boolean;
  readonly kind?: 'model';
}

type Work = (call: StepCall) => unknown;

/** Steps, questions and approvals of one leg. A step is found by its name, a question by a digest of its content. */
export class Steps {
  readonly #leg: Leg;
  readonly #positions = new AsyncLocalStorage<Position>();
  readonly permissions: Permissions;
  readonly #tasks = new WeakMap<object, Scope>();
  #root: Scope;

  constructor(leg: Leg) {
    this.#leg = leg;
    this.permissions = new Permissions(leg);
    this.#root = newScope(leg.progress.path);
  }

  emit(emission: Emission): void {
    this.#leg.guard();
    this.#leg.progress.say(emission, this.#step);
  }

  async step(name: string, work: Work, options: StepOptions = {}): Promise<unknown> {
    this.#guardOutside(`step "${name}" was started`, ', or group steps with ctx.scope()');
    const taken = takeName(this.#scope, name, 'step');
    try {
      return await this.#takeStep({ ...callOf(options), ref: taken.ref, name }, work);
    } finally {
      taken.release();
    }
  }

  /** Numbers waits and calls by their name in their scope, so every leg finds them again. */
  refOf(method: string, name: string): string {
    this.#guardOutside(`ctx.${method}() was called`);
    return countName(this.#scope, name);
  }

  async ask(question: Question): Promise<Answer> {
    const ref = this.refOf('ask', `ask ${digestOf(question)}`);
    const answer = this.#leg.replay.answers.get(ref);
    if (answer === undefined) return this.#leg.raise({ type: 'user_question', ref, ...question });
    await this.#leg.deliverLast(ref);
    return answer;
  }

  /** Waits for a time or a message, known by kind and name in its scope: an edit of the time moves no old one. */
  async wait({ method, kind, name, end }: WaitedFor): Promise<SettledWait> {
    const ref = this.refOf(method, `${method} ${name}`);
    const known = this.#leg.replay.waits.get(ref);
    if (known?.state !== 'settled')
      return this.#leg.raise({ type: 'wait', ref, kind, name, ...end });
    await this.#leg.deliverWait(ref, known.number);
    return known;
  }

  async approve(
    request: { readonly tool: string; readonly input: Json },
    work: Work,
  ): Promise<Decision> {
    this.#guardOutside('ctx.approve() was called');
    const { tool } = request;
    const input = jsonCopy(request.input, 'input') as Json;
    const taken = takeName(this.#scope, `${tool} ${digestOf(tool, input)}`, 'request');
    try {
      const call = { ...callOf({ input }), ref: taken.ref, name: tool };
      const isNew = this.#leg.replay.take(call.ref) === undefined;
      if (isNew && this.permissions.answerFor(call.ref) === undefined) await this.#request(call);
      return { allowed: true, value: await this.#takeStep(call, work) };
    } catch (error) {
      if (!(error instanceof Denied)) throw error;
      return { allowed: false, ...(error.reason !== undefined && { reason: error.reason }) };
    } finally {
      taken.release();
    }
  }

  async scope<T>(name: string, body: () => T | Promise<T>, isNested = this.isNested): Promise<T> {
    this.#guardOutside(`scope "${name}" was started`);
    const taken = takeName(this.#scope, name, 'scope');
    try {
      const scope = newScope(pathBelow(taken.ref));
      return await this.#positions.run({ scope, isNested }, async () => body());
    } finally {
      taken.release();
    }
  }

  /** Whether the current code belongs to an agent that another agent uses as a tool. */
  get isNested(): boolean {
    return this.#positions.getStore()?.isNested === true;
  }

  /**
   * Asks a person to allow a call, for frameworks that ask first and call later. The next `call` with the same id gets
   * the ref of this request and the approved input, once: one permission is for one execution (D-361).
   */
  async permit(call: ToolCall): Promise<Permission> {
    this.#guardOutside(`an approval of "${call.tool}" was requested`);
    const ref = countName(this.#scope, nameOfCall(call));
    const { input } = callOf(call);
    const permission = await this.permissions.ask({ ref, tool: call.tool, input });
    if (permission.allowed) {
      this.permissions.keep(this.#scope.path, call, { ref, input: permission.input });
    }
    return permission;
  }

  /** Runs a tool call of a model as a step. It has the name of the tool and is found by the id of the call. */
  async call(call: ToolCall, work: Work): Promise<unknown> {
    return this.orEnd(() => {
      this.#guardOutside(`tool "${call.tool}" was called`);
      const permitted = this.permissions.take(this.#scope.path, call);
      const ref = permitted?.ref ?? countName(this.#scope, nameOfCall(call));
      const { tool: name, approvedInput } = call;
      const approved = approvedInput === undefined ? permitted : { input: approvedInput };
      return this.#takeStep({ ...callOf(call), ...approved, ref, name }, work);
    });
  }

  /** Asks a model in a repeatable step. A stored answer is returned only for the conversation that it belongs to. */
  async request({ model, shape }: ModelRequest, work: Work): Promise<unknown> {
    const now = digestOf(shape);
    const options = { repeatable: true, touches: 'outside', input: { model } } as const;
    return this.orEnd(async () => {
      this.#guardOutside('a model was called');
      const taken = takeName(this.#scope, 'model', 'request');
      const call = { ...callOf(options), ref: taken.ref, name: 'model', kind: 'model' } as const;
      const ask: Work = async (step) => ({ shape: now, answer: await work(step) });
      try {
        const stored = (await this.#takeStep(call, ask)) as { shape: string; answer: Json };
        if (stored.shape === now) return stored.answer;
        throw new Misuse(
          'The stored answer of the model belongs to a different conversation. Was the agent edited during the run?',
        );
      } catch (error) {
        throw error instanceof StepFailed ? new ModelFailed(error.message) : error;
      } finally {
        taken.release();
      }
    });
  }

  /** Ends the run on a mistake of the author. Frameworks would pass any error of a tool on to the model. */
  async orEnd<T>(body: () => T | Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      if (!(error instanceof Misuse)) throw error;
      this.#leg.fail(error);
      return never();
    }
  }

  /** Runs a part of a framework's task. */
  inTask<T>({ key, execution, interrupt }: FrameworkTask, body: () => T): T {
    const scope = this.#tasks.get(execution) ?? newScope(pathBelow(`${taskPath}${digestOf(key)}`));
    this.#tasks.set(execution, scope);
    return this.#positions.run({ ...this.#positions.getStore(), scope, interrupt }, body);
  }

  /** Makes a recovery point with a value of the author. The next leg replays nothing before it (L13, D-171). */
  save(progress: Json): void {
    this.#leg.guard();
    if (this.#leg.isWorking || this.#scope !== this.#root) {
      throw new Misuse(
        'ctx.save() was called inside a step or scope. Call it at the top level, between steps.',
      );
    }
    this.#leg.progress.save(progress);
    this.#root = newScope(this.#leg.progress.path);
  }

  get #step(): RunningStep | undefined {
    const step = this.#positions.getStore()?.step;
    return step?.isOver === false ? step : undefined;
  }

  get #scope(): Scope {
    return this.#positions.getStore()?.scope ?? this.#root;
  }

  #guardOutside(event: string, alternative = ''): void {
    this.#leg.guard();
    const step = this.#step;
    if (step === undefined) return;
    const remedy = remedyOf(event) ?? `Await "${step.name}" first${alternative}.`;
    throw new Misuse(`${event} inside step "${step.name}". ${remedy}`);
  }

  async #takeStep(call: Call, work: Work): Promise<unknown> {
    const known = this.#leg.replay.take(call.ref);
    if (known !== undefined && known.state !== 'again') return this.#resultOf(call, known);
    const answer = this.permissions.answerFor(call.ref);
    if (answer?.allow === false) return this.#deny(call, answer.reason);
    // A person may have changed it (L16).
    const { input } = answer ?? known ?? call;
    return this.#carryOut({ ...call, input }, work);
  }

  async #resultOf(call: Call, known: Exclude<KnownCall, { state: 'again' }>): Promise<unknown> {
    if (known.state === 'left') {
      await this.#leg.deliverLast(call.ref);
      throw new InDoubt(call.name, known.note);
    }
    const result = readResult(known);
    await this.#leg.deliver(result);
    return valueOf(call.name, result);
  }

  /** The server, or a person, did not allow the step. The server stored this answer, and replays get it (D-510). */
  async #deny(call: Call, reason: string | null): Promise<never> {
    await this.#leg.deliverLast(call.ref);
    throw new Denied(call.name, reason);
  }

  /** A person has to allow the step first. */
  #request({ ref: step, name: tool, input }: Call): Promise<never> {
    const request = { ref: this.permissions.refOfNext(step), tool, input };
    const { interrupt } = this.#positions.getStore() ?? {};
    return interrupt === undefined ? this.permissions.raise(request) : interrupt(request);
  }

  async #carryOut(call: Call, work: Work): Promise<unknown> {
    const begun = await this.#begin(call);
    if (begun.effect !== 'allow') return this.#refuse(call, begun);
    const step: RunningStep = { name: call.name, unsaid: [], isOver: false };
    const position = { ...this.#positions.getStore(), step };
    const outcome = await this.#positions.run(position, () => this.#do(call, begun.key, work));
    step.isOver = true;
    return this.#endStep(call, step, outcome);
  }

  async #begin({ ref, name, input, touches, isRepeatable, kind }: Call): Promise<IntentReply> {
    this.#leg.stepStarted();
    try {
      await this.#mayBegin({ name, isRepeatable });
      return await this.#leg.begin({
        type: 'call_begin',
        call_id: ref,
        tool_name: name,
        tool_input: input,
        touches,
        ...(isRepeatable && { repeatable: true }),
        ...(kind !== undefined && { kind }),
      });
    } catch (error) {
      this.#leg.stepEnded();
      throw error;
    }
  }

  /** D-168: the server has not let the step begin, whatever the agent's code says. */
  #refuse(call: Call, refused: CallRefused): Promise<never> {
    try {
      return refused.effect === 'ask' ? this.#request(call) : this.#deny(call, refused.reason);
    } finally {
      // After the request: without a step that runs, the leg ends.
      this.#leg.stepEnded();
    }
  }

  async #do({ name, input }: Call, key: string, work: Work): Promise<Outcome> {
    try {
      return outcomeOf(name, await work({ key, input, signal: this.#leg.signal }));
    } catch (error) {
      return outcomeOfError(error);
    }
  }

  async #endStep(call: Call, step: RunningStep, outcome: Outcome): Promise<unknown> {
    const { output } = this.#leg.progress;
    if (sizeOf(step.unsaid) > saidCharactersMax) await output.waitForTurn(step);
    const unsaid = output.release(step);
    const result: StoredResult = {
      ...outcome,
      order: this.#leg.progress.nextOrder(),
      ...(call.isRepeatable && { isRepeatable: true }),
      ...(unsaid.length > 0 && { said: unsaid }),
    };
    this.#leg.send({
      type: 'call_end',
      call_id: call.ref,
      ok: outcome.error === undefined,
      output: JSON.stringify(result),
      // The result and the point that covers its text are one transaction (L8, D-175).
      ...(output.isFree &&
        !this.#leg.progress.hasOwnPoints && { point: this.#leg.progress.point() }),
    });
    output.letNextSpeak();
    this.#leg.stepEnded();
    await this.#leg.deliver(result);
    // A copy of the stored result, so that the function gets the same value in every leg (L3).
    return valueOf(call.name, JSON.parse(JSON.stringify(result)) as StoredResult);
  }

  /** Waits until every stored result that the function asks for has reached it (L6). */
  async #mayBegin(call: Pick<Call, 'name' | 'isRepeatable'>): Promise<void> {
    if (this.#leg.replay.leftOver.length > 0) {
      await this.#leg.quiet();
      this.#leg.guard();
      const left = this.#leg.replay.leftOver;
      if (left.length > 0) await continueAfterEdit(this.#leg, left, call);
    }
    if (this.#leg.mayBegin) return;
    this.#leg.holdBack();
    await never();
  }
}

function callOf({ repeatable = false, input = {}, touches = 'both' }: StepOptions) {
  return { input: jsonCopy(input, 'input') as Json, touches, isRepeatable: repeatable };
}
