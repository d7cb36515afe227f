import type { Agent } from '../../domain/agent.ts';
import { type Json, type JsonObject, isObject } from '../../domain/json.ts';
import { refusedCall } from '../../domain/run/called-run.ts';
import { leaveCall } from '../../domain/run/call-in-doubt.ts';
import { completedWith } from '../../domain/run/completion.ts';
import { type LostRunFacts, decideRecovery, isRepeatable } from '../../domain/run/recovery.ts';
import { type Allow, allowFor } from '../../domain/rules/allows.ts';
import { decide, namesTool } from '../../domain/rules/decide.ts';
import { rulesOfAgent } from '../../domain/rules/rule.ts';
import { type CallResult, type ToolCall, knownCalls } from '../../domain/run/tool-call.ts';
import {
  type CallEvent,
  type EndedWait,
  type Outside,
  type RehearsedComings,
  RehearsedWaits,
  type StartedRun,
} from './rehearsed-waits.ts';
import type {
  Answer,
  CallToDecide,
  DecideOutcome,
  Harness,
  HarnessEvent,
  LegEnd,
  LegInput,
  NewCall,
} from '../../ports/harness.ts';

/** A question or a request for approval, as a person sees it. */
export type RehearsedInteraction =
  | { readonly kind: 'permission'; readonly toolName: string; readonly toolInput: Json }
  | {
      readonly kind: 'question';
      readonly question: string;
      readonly options: readonly { readonly label: string; readonly description?: string }[];
      readonly multiple: boolean;
    };

/** What a person says about a call in doubt: it was carried out, or it was not and is to be carried out now. */
export type Reading = 'done' | 'not done';

/** Whether what a run waits for comes one by one, or all of it before a worker is free. */
export type Coming = 'one' | 'all';

/** A call that the program was told to carry out. */
export interface CarriedOut {
  readonly name: string;
  readonly input: Json;
  readonly isRepeatable: boolean;
}

export interface RunEnd {
  readonly outcome: 'completed' | 'cancelled' | 'error';
  readonly message?: string;
  /** What the agent returned. */
  readonly output?: Json;
  /** It ended because its process was lost, as its `recovery` says. */
  readonly isLoss?: true;
}

/** As a server ends it: an output that does not fit is an error (D-567). */
function completionOf(agent: Agent, returned: Json | undefined): RunEnd {
  const outcome = completedWith(agent, returned);
  if (outcome.status === 'failed') return { outcome: 'error', message: outcome.message };
  return { outcome: 'completed', ...(returned !== undefined && { output: returned }) };
}

/** Far more than a run has: a program that says or does more is stopped. */
const textMax = 16 * 1024 * 1024;
const callsMax = 20_000;

/**
 * What the service keeps of one run, in memory: ledger, answers, checkpoint, text. What happens after a loss is decided
 * by the same rules (D-959).
 */
export class RehearsedRun {
  readonly #agent: Agent;
  readonly #harness: Harness;
  readonly #calls = new Map<string, ToolCall>();
  readonly #answers = new Map<string, Answer>();
  /** Answers that the previous leg was waiting for. */
  #fresh = new Map<string, Answer>();
  readonly #open = new Map<string, RehearsedInteraction>();
  readonly #allowed: Allow[] = [];
  readonly #begunCalls = new Map<string, CarriedOut>();
  #carriedOut: CarriedOut[] = [];
  #texts: string[] = [];
  #size = 0;
  #checkpoint: Json | undefined;
  /** How many texts the recovery point covers; undefined without one. */
  #covered: number | undefined;
  readonly #waits: RehearsedWaits;
  #isParked = false;
  #next: LegInput['kind'] = 'prompt';
  #reason: 'answered' | 'drained' | 'worker_lost' = 'answered';
  legs = 0;
  /** Calls that a person had to be asked about. */
  doubts = 0;
  /** Whether it has waited for several times, messages or runs at the same time. */
  hasWaitedForSeveral = false;
  readonly asked: RehearsedInteraction[] = [];
  readonly events: { readonly name: string; readonly data: JsonObject }[] = [];
  end: RunEnd | undefined;

  constructor(agent: Agent, harness: Harness, comings: Partial<RehearsedComings> = {}) {
    this.#agent = agent;
    this.#harness = harness;
    this.#waits = new RehearsedWaits(agent.limits.waitHours, comings, Date.now());
  }

  /** What it has waited for beside people. */
  get waits(): readonly EndedWait[] {
    return this.#waits.over;
  }

  /** The runs of other agents that it has started. */
  get started(): readonly StartedRun[] {
    return this.#waits.started;
  }

  get text(): string {
    return this.#texts.join('');
  }

  /** What later legs and runs of the session find as their state. */
  get state(): Json | undefined {
    return this.#checkpoint;
  }

  /** The same without a place inside a text, where a kill leaves it and no later run looks at it. */
  get comparedState(): Json | undefined {
    return this.#harness.keepsCutText === true ? undefined : this.#checkpoint;
  }

  get carriedOut(): readonly CarriedOut[] {
    return this.#carriedOut;
  }

  /** What its next leg begins with. */
  beginLeg(): LegInput {
    this.legs += 1;
    this.#isParked = false;
    const fresh = this.#fresh;
    this.#fresh = new Map();
    if (this.#next === 'prompt') return { kind: 'prompt' };
    if (this.#next === 'resume') return { kind: 'resume', answers: fresh };
    const calls = knownCalls([...this.#calls.values()]);
    const settled = { answers: new Map(this.#answers), calls, waits: this.#waits.known() };
    return { kind: 'continue', reason: this.#reason, ...settled };
  }

  /** Makes what a program says durable. */
  record(event: Exclude<HarnessEvent, LegEnd>): void {
    switch (event.type) {
      case 'message_delta':
        this.#size += event.text.length;
        if (this.#size > textMax) return this.#fail('The program says more than 16 Mi characters.');
        this.#texts.push(event.text);
        break;
      case 'permission_request': {
        const { toolName, toolInput } = event;
        this.#ask(event.ref, { kind: 'permission', toolName, toolInput });
        break;
      }
      case 'user_question': {
        const { ref, question, options = [], multiple = false } = event;
        this.#ask(ref, { kind: 'question', question, options, multiple });
        break;
      }
      case 'wait':
        if (event.kind === 'run') this.#call(event);
        else this.#waits.raise(event, this.#nextNumber);
        break;
      case 'checkpoint':
        this.#checkpoint = event.state;
        this.#covered = event.recovery === true ? this.#texts.length : undefined;
        break;
      case 'custom':
        this.events.push({ name: event.name, data: event.data });
        break;
      case 'usage':
        break;
      default:
        event satisfies never;
    }
    if ('point' in event && event.point !== undefined) this.#keep(event.point);
  }

  /** Whether the program may begin this call: never one that it began before. */
  mayBegin(ref: string): boolean {
    const known = this.#calls.get(ref);
    return known === undefined ? this.#calls.size < callsMax : known.status === 'again';
  }

  /** What the agent's own rules say: those of an organization are not known here. */
  decide(call: CallToDecide): DecideOutcome {
    if (call.kind !== undefined) return { kind: 'allowed', isNamed: false };
    const known = this.#answers.get(call.ref);
    if (known?.kind === 'permission' && !known.allow) {
      return { kind: 'denied', reason: known.reason ?? 'The person did not allow this.' };
    }
    const lists = { agent: rulesOfAgent(this.#agent), organization: [] };
    const { name: agentName } = this.#agent;
    const named = { ...call, agentName, tenantId: '' };
    const allowed = { kind: 'allowed', isNamed: namesTool(lists, named) } as const;
    const decision = decide(lists, named);
    if (decision.effect === 'allow') return allowed;
    if (decision.effect === 'deny') return { kind: 'denied', reason: decision.reason };
    return allowFor(call, this.#allowed) === undefined ? { kind: 'ask' } : allowed;
  }

  /** A denial is final for its call (D-510). */
  denyCall(ref: string, reason: string): void {
    this.#answers.set(ref, { kind: 'permission', allow: false, reason, by: 'rule' });
  }

  beginCall(call: NewCall): void {
    const allow = allowFor(call, this.#allowed);
    if (allow !== undefined) {
      this.#allowed[this.#allowed.indexOf(allow)] = { ...allow, spentOn: call.ref };
    }
    this.#calls.set(call.ref, { ...call, epoch: this.legs, begunAt: 0, status: 'begun' });
  }

  /** The program has been told to carry it out: from now on it counts as done. */
  tell(begun: NewCall): void {
    const { ref, toolName: name, input } = begun;
    const facts = { agent: this.#agent, allowed: this.#allowed };
    const call = { name, input, isRepeatable: isRepeatable(begun, facts) };
    this.#begunCalls.set(ref, call);
    this.#carriedOut.push(call);
  }

  endCall(ref: string, result: CallResult, point: Json | undefined): void {
    const call = this.#calls.get(ref);
    if (call?.status === 'begun') this.#calls.set(ref, { ...call, status: 'ended', result });
    if (point !== undefined) this.#keep(point);
  }

  /** Its process is gone (D-88). The reading is what the person says where one has to be asked. */
  lose(reading: Reading): void {
    const recovery = decideRecovery({
      run: this.#facts(),
      reason: 'worker_lost',
      agent: this.#agent,
      afterLoss: this.#harness.afterLoss ?? 'none',
      point: this.#covered === undefined ? undefined : { seq: 1 },
      calls: [...this.#calls.values()],
      allowed: this.#allowed,
      isLeftToOthers: false,
      hasSameFolder: true,
      keepsCutText: false,
    });
    if (recovery.kind !== 'continue') {
      const failed = recovery.kind === 'end' && recovery.outcome.status === 'failed';
      const message = failed ? recovery.outcome.message : 'The process was lost.';
      this.end = { outcome: 'error', message, isLoss: true };
      return;
    }
    this.#texts.splice(this.#covered ?? 0);
    for (const call of recovery.settled) this.#calls.set(call.ref, call);
    for (const call of recovery.inDoubt) this.#settle(call, reading);
    this.doubts += recovery.inDoubt.length;
    this.#continueWith('continue', 'worker_lost');
  }

  endLeg(end: LegEnd): void {
    if (end.state !== undefined) {
      this.#checkpoint = end.state;
      this.#covered = undefined;
    }
    switch (end.outcome) {
      case 'waiting':
        this.#isParked = true;
        return this.#continueWith(this.#isToldAll ? 'continue' : 'resume', 'answered');
      case 'yielded':
      case 'cut':
        return this.#continueWith('continue', 'drained');
      case 'completed':
        this.end = completionOf(this.#agent, end.output);
        return;
      case 'cancelled':
        this.end = { outcome: end.outcome };
        return;
      case 'error':
        this.end = { outcome: 'error', message: end.message };
        return;
      default:
        end satisfies never;
    }
  }

  /** Whether the leg behind an answer gets all that the run has, as from a server (D-925). */
  get #isToldAll(): boolean {
    const { replays = false, callsAgents = false } = this.#harness;
    return replays || (callsAgents && this.#waits.isUsed);
  }

  /** What is to be answered before the next leg. */
  get open(): ReadonlyMap<string, RehearsedInteraction> {
    return this.#open;
  }

  answer(ref: string, answer: Answer): void {
    const asked = this.#open.get(ref);
    if (asked?.kind === 'permission' && answer.kind === 'permission' && answer.allow) {
      this.#allowed.push({ ref, toolName: asked.toolName, input: answer.input });
    }
    this.#open.delete(ref);
    this.#answers.set(ref, answer);
    this.#fresh.set(ref, answer);
  }

  /** Where the run waits and has asked no person, what comes next comes; or all of it, one after the other. */
  async letCome(come: Coming, outside: Outside): Promise<void> {
    if (!this.#isParked) return;
    if (this.#waits.openCount > 1) this.hasWaitedForSeveral = true;
    // A message of a person who is at hand; else time passes.
    const next = async () =>
      (await this.#waits.hear(outside, this.#nextNumber)) || this.#waits.advance(this.#nextNumber);
    let hasCome = await next();
    while (hasCome && come === 'all') hasCome = await next();
  }

  /** As a server does (D-1051): rules are about `call_<agent>`, and the approved input is the one that is started. */
  #call(event: CallEvent): void {
    const { ref, name, input } = event;
    if (this.#waits.has(ref)) return;
    const call = { ref, toolName: `call_${name}`, input };
    const answer = this.#answers.get(ref);
    const allowed = answer?.kind === 'permission' && answer.allow ? answer.input : undefined;
    const decided = this.decide(call);
    if (decided.kind === 'denied') {
      const why = { code: 'denied', message: decided.reason } as const;
      return this.#waits.refuse(event, why, this.#nextNumber);
    }
    if (decided.kind === 'ask' && allowed === undefined) {
      return this.#ask(ref, { kind: 'permission', toolName: call.toolName, toolInput: input });
    }
    const wanted = allowed ?? input;
    const caller = { agentName: this.#agent.name, ancestors: null };
    const message = refusedCall({ caller, agent: this.#agent, name, input: wanted });
    if (message !== undefined) {
      return this.#waits.refuse(event, { code: 'refused', message }, this.#nextNumber);
    }
    // Any other value was refused.
    const approved = isObject(wanted) ? wanted : input;
    this.#waits.raise({ ...event, input: approved }, this.#nextNumber);
  }

  /** The place of what is settled next among the answers and waits. */
  get #nextNumber(): number {
    return this.#answers.size + this.#waits.settledCount + 1;
  }

  #continueWith(next: LegInput['kind'], reason: 'answered' | 'drained' | 'worker_lost'): void {
    this.#next = next;
    this.#reason = reason;
  }

  #ask(ref: string, asked: RehearsedInteraction): void {
    if (this.#answers.has(ref) || this.#open.has(ref)) return;
    if (asked.kind === 'permission') {
      // A rule may answer before a person sees it (D-511).
      const decided = this.decide({ ref, toolName: asked.toolName, input: asked.toolInput });
      if (decided.kind === 'denied') {
        const { reason } = decided;
        return this.answer(ref, { kind: 'permission', allow: false, reason, by: 'rule' });
      }
    }
    this.asked.push(asked);
    this.#open.set(ref, asked);
  }

  #keep(point: Json): void {
    this.#checkpoint = point;
    this.#covered = this.#texts.length;
  }

  #settle(call: ToolCall, reading: Reading): void {
    if (reading === 'done') {
      this.#calls.set(call.ref, leaveCall(call, 'Marked as completed.'));
      return;
    }
    // The person says that it was not carried out, so it does not count.
    const begun = this.#begunCalls.get(call.ref);
    this.#carriedOut = this.#carriedOut.filter((each) => each !== begun);
    this.#calls.set(call.ref, { ...call, status: 'again' });
  }

  #facts(): LostRunFacts {
    const status = this.#open.size > 0 ? 'waiting' : 'running';
    return { status, losses: 0, lossesTotal: 0, lastSeq: 1, lastMachine: null, savedEpoch: 0 };
  }

  #fail(message: string): void {
    this.end = { outcome: 'error', message };
  }
}
