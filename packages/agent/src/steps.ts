import { AsyncLocalStorage } from 'node:async_hooks';
import { Denied, InDoubt, Misuse } from './failures.ts';
import type { Speaker } from './floor.ts';
import { type Json, jsonCopy } from './json.ts';
import type { Leg } from './leg.ts';
import type { Answer, Emission, KitMessage, KnownCall, Touches } from './lines.ts';
import { type Scope, countName, digestOf, newScope, pathBelow, takeName } from './names.ts';
import {
  type Outcome,
  type StoredResult,
  outcomeOf,
  outcomeOfError,
  readResult,
  valueOf,
} from './results.ts';

/** What a step said while another one had the floor is stored with its result, up to this many characters. */
const saidCharactersMax = 256 * 1024;

/** What a step's function gets. */
export interface StepCall {
  /** The same in every attempt: a service that knows it can recognize a repetition. */
  readonly key: string;
  /** The input as it was approved, where a person had to allow the step. */
  readonly input: Json;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
}

export interface StepOptions {
  /** Carried out again after a loss in its middle, instead of asking a person: reading, or what honours `key`. */
  readonly repeatable?: boolean;
  /** What a person sees who has to allow the step, or to say whether it was carried out. */
  readonly input?: Json;
  /** What it can change: files of the session, the world outside, or (by default) both. */
  readonly touches?: Touches;
}

export type Question = Omit<Extract<KitMessage, { type: 'user_question' }>, 'type' | 'ref'>;
export type Decision =
  | { readonly allowed: true; readonly value: unknown }
  | { readonly allowed: false; readonly reason?: string };

/** Where the program is: in which scope, and in which step. */
interface Place {
  readonly scope?: Scope;
  readonly step?: RunningStep;
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
}

type Work = (call: StepCall) => unknown;

/** What the program does in one leg: steps, questions and approvals, each known by its name or by what was shown. */
export class Steps {
  readonly #leg: Leg;
  readonly #places = new AsyncLocalStorage<Place>();
  #root: Scope;

  constructor(leg: Leg) {
    this.#leg = leg;
    this.#root = newScope(leg.progress.path);
  }

  emit(emission: Emission): void {
    this.#leg.guard();
    this.#leg.progress.say(emission, this.#step);
  }

  async step(name: string, work: Work, options: StepOptions = {}): Promise<unknown> {
    this.#guardOutside(`step "${name}"`);
    const taken = takeName(this.#scope, name, 'step');
    try {
      return await this.#takeStep({ ...callOf(options), ref: taken.ref, name }, work);
    } finally {
      taken.release();
    }
  }

  async ask(question: Question): Promise<Answer> {
    this.#guardOutside('ask');
    const ref = countName(this.#scope, `ask ${digestOf(question)}`);
    const answer = this.#leg.replay.answers.get(ref);
    if (answer === undefined) return this.#leg.raise({ type: 'user_question', ref, ...question });
    await this.#leg.deliveredLate(ref);
    return answer;
  }

  async approve(
    request: { readonly tool: string; readonly input: Json },
    work: Work,
  ): Promise<Decision> {
    this.#guardOutside('approve');
    const { tool } = request;
    const input = jsonCopy(request.input, 'input') as Json;
    const taken = takeName(this.#scope, `${tool} ${digestOf(tool, input)}`, 'request');
    try {
      const call = { ...callOf({ input }), ref: taken.ref, name: tool };
      const known = this.#leg.replay.take(call.ref);
      if (known !== undefined)
        return { allowed: true, value: await this.#resume(call, known, work) };
      const { allow, ...answer } = await this.#permission(call);
      if (allow === true) {
        const approved = { ...call, input: 'input' in answer ? answer.input : input };
        return { allowed: true, value: await this.#carryOut(approved, work) };
      }
      await this.#leg.deliveredLate(call.ref);
      const reason = 'reason' in answer ? answer.reason : null;
      return { allowed: false, ...(reason === null ? {} : { reason }) };
    } finally {
      taken.release();
    }
  }

  async scope<T>(name: string, body: () => T | Promise<T>): Promise<T> {
    this.#guardOutside(`scope "${name}"`);
    const taken = takeName(this.#scope, name, 'scope');
    try {
      const scope = newScope(pathBelow(taken.ref));
      return await this.#places.run({ scope }, async () => body());
    } finally {
      taken.release();
    }
  }

  /** Makes a recovery point of the author's: the next leg replays nothing before it (D-171). */
  save(progress: Json): void {
    this.#guardOutside('save');
    if (this.#leg.isWorking || this.#scope !== this.#root) {
      throw new Misuse('save while no step runs, and outside of every scope');
    }
    this.#leg.progress.save(progress);
    this.#root = newScope(this.#leg.progress.path);
  }

  get #step(): RunningStep | undefined {
    const step = this.#places.getStore()?.step;
    return step?.isOver === false ? step : undefined;
  }

  get #scope(): Scope {
    return this.#places.getStore()?.scope ?? this.#root;
  }

  #guardOutside(what: string): void {
    this.#leg.guard();
    const step = this.#step;
    if (step === undefined) return;
    const remedy = /^(ask|approve)/.test(what)
      ? 'ask first, then begin the step'
      : 'begin one step after the other; ctx.scope groups them';
    throw new Misuse(`${what} inside of the step "${step.name}": ${remedy}`);
  }

  async #takeStep(call: Call, work: Work): Promise<unknown> {
    const known = this.#leg.replay.take(call.ref);
    if (known !== undefined) return this.#resume(call, known, work);
    if (!this.#needsApproval(call.name)) return this.#carryOut(call, work);
    const answer = await this.#permission(call);
    if (answer.allow) return this.#carryOut({ ...call, input: answer.input }, work);
    await this.#leg.deliveredLate(call.ref);
    throw new Denied(call.name, answer.reason);
  }

  /** D-168: the operator's list holds, whatever the program says. */
  #needsApproval(name: string): boolean {
    const { approval_required_tools: globs } = this.#leg.start.agent;
    return globs.some((glob) => {
      const parts = glob.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
      return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
    });
  }

  async #permission({ ref, name, input }: Call): Promise<Extract<Answer, { kind: 'permission' }>> {
    const answer = this.#leg.replay.answers.get(ref);
    if (answer?.kind === 'permission') return answer;
    return this.#leg.raise({ type: 'permission_request', ref, tool_name: name, tool_input: input });
  }

  async #resume(call: Call, known: KnownCall, work: Work): Promise<unknown> {
    if (known.state === 'again') return this.#carryOut({ ...call, input: known.input }, work);
    if (known.state === 'left') {
      await this.#leg.deliveredLate(call.ref);
      throw new InDoubt(call.name, known.note);
    }
    const result = readResult(known);
    await this.#leg.delivered(result);
    return valueOf(call.name, result);
  }

  async #carryOut(call: Call, work: Work): Promise<unknown> {
    const key = await this.#begin(call);
    const step: RunningStep = { name: call.name, unsaid: [], isOver: false };
    const place = { ...this.#places.getStore(), step };
    const outcome = await this.#places.run(place, () => this.#do(call, key, work));
    step.isOver = true;
    return this.#endStep(call, step, outcome);
  }

  async #begin(call: Call): Promise<string> {
    this.#leg.working();
    try {
      await this.#mayBegin(call);
      return await this.#leg.begin({
        type: 'call_begin',
        call_id: call.ref,
        tool_name: call.name,
        tool_input: call.input,
        touches: call.touches,
        ...(call.isRepeatable && { repeatable: true }),
      });
    } catch (error) {
      this.#leg.ran();
      throw error;
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
    const { floor } = this.#leg.progress;
    if (sizeOf(step.unsaid) > saidCharactersMax) await floor.turnOf(step);
    const unsaid = floor.leave(step);
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
      // The result and the point that covers its text are one transaction (D-175).
      ...(floor.isFree && { point: this.#leg.progress.point() }),
    });
    floor.pass();
    this.#leg.ran();
    await this.#leg.delivered(result);
    // As it was stored: the first time and every other time the program gets the same.
    return valueOf(call.name, JSON.parse(JSON.stringify(result)) as StoredResult);
  }

  /** Waits until everything that is known has reached the program: only then is it clear what is new. */
  async #mayBegin(call: Call): Promise<void> {
    if (this.#leg.replay.leftOver.length > 0) {
      await this.#leg.quiet();
      this.#leg.guard();
      const left = this.#leg.replay.leftOver;
      if (left.length > 0) await this.#goOnWithout(left, call);
    }
    if (this.#leg.mayBegin) return;
    this.#leg.ran();
    await never();
  }

  /** The program took another way than before (D-173). If its author has changed it, a person decides (D-174). */
  async #goOnWithout(left: readonly string[], call: Call): Promise<void> {
    const { start } = this.#leg;
    const ref = `edited ${digestOf(left)}`;
    const answer = this.#leg.replay.answers.get(ref);
    const isDoubtful = this.#leg.replay.hasEffectLeft && !call.isRepeatable;
    if (answer === undefined && isDoubtful && start.agent_changed === true) {
      const names = left.map((name) => `"${name}"`).join(', ');
      const question = `The agent was edited during this run. It did not ask for the results of ${names}, and is about to begin "${call.name}". If that is the same step under a new name, it would be done twice.`;
      this.#leg.ran();
      try {
        await this.#leg.raise({
          type: 'user_question',
          ref,
          question,
          options: ['Continue', 'End the run'],
        });
      } finally {
        this.#leg.working();
      }
    }
    if (answer !== undefined && !('values' in answer && answer.values[0] === 'Continue')) {
      this.#leg.fail(new Misuse('a person ended the run, because the agent was edited during it'));
      await never();
    }
    this.#leg.replay.forgetLeftOver();
    this.#leg.send({ type: 'custom', name: 'replay_differs', data: { left_over: left } });
  }
}

function callOf({ repeatable = false, input = {}, touches = 'both' }: StepOptions) {
  return { input: jsonCopy(input, 'input') as Json, touches, isRepeatable: repeatable };
}

function sizeOf(emissions: readonly Emission[]): number {
  return emissions.reduce((sum, each) => sum + JSON.stringify(each).length, 0);
}

function never(): Promise<never> {
  return new Promise(() => {});
}
