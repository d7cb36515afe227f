import { isDeepStrictEqual } from 'node:util';
import lostCalls from './lost-calls.json' with { type: 'json' };
import type { Agent } from '../agent.ts';
import type { Json, JsonObject } from '../json.ts';
import type {
  Answer,
  CallRefused,
  KitMessage,
  KnownCall,
  Point,
  ServerMessage,
  StartMessage,
} from '../lines.ts';
import { RehearsedWaits, type WaitOptions } from './rehearsed-waits.ts';
import {
  type RehearsedInteraction,
  type Reply,
  answerOf,
  approvedIn,
  copied,
  defaultReply,
  denialIn,
  labels,
} from './replies.ts';
import { type RuledCall, type Rule, type Ruling, decide } from './rules.ts';

export interface RehearsalOptions extends WaitOptions {
  readonly prompt?: string;
  readonly input?: JsonObject;
  /** The session's state after the previous run. */
  readonly state?: JsonObject;
  /** Returns the reply of a person. By default the first option or "yes", and every permission is given. */
  readonly answer?: (asked: RehearsedInteraction) => Reply;
  /** `approval_required_tools` of agent.yaml. */
  readonly approvalRequiredTools?: readonly string[];
  /** `rules` of agent.yaml. */
  readonly rules?: readonly Rule[];
  readonly folder?: string;
  /**
   * `output_schema` of agent.yaml: a string that the agent returns is its output then. The value is not checked here.
   */
  readonly outputSchema?: JsonObject;
  /** The agent as its author edited it after the first leg, while the run waited for an answer (D-174). */
  readonly edited?: Agent;
}

export interface CalledStep {
  readonly name: string;
  readonly input: Json;
  readonly isRepeatable: boolean;
}

interface LedgerEntry extends CalledStep {
  status: 'begun' | 'ended' | 'left' | 'again';
  /** Whether the kit was told that the intent is stored. From then on the step counts as run. */
  isDone: boolean;
  ok: boolean;
  output: string;
}

/** `ref` is that of the request, `spentOn` that of the call. */
interface AllowedCall extends RuledCall {
  readonly ref: string;
  spentOn?: string;
}

type End = Extract<KitMessage, { type: 'end' }>;

/** A server's data of one run, in memory: ledger, answers, last recovery point and log (D-959). */
export class RehearsedRun {
  readonly #options: RehearsalOptions;
  readonly #calls = new Map<string, LedgerEntry>();
  readonly #answers = new Map<string, Answer>();
  readonly #open = new Map<string, RehearsedInteraction>();
  readonly #waits: RehearsedWaits;
  /** Calls that a person has allowed: one permission is for one execution (D-39). */
  readonly #allowed: AllowedCall[] = [];
  /** The server's replies to calls that it has refused. */
  readonly #refused = new Map<string, CallRefused>();
  #checkpoint: Json;
  #texts: string[] = [];
  #coveredTexts = 0;
  #usage: { readonly model: string | undefined; readonly tokens: number }[] = [];
  /** Legs so far. */
  legs = 0;
  hasDoubt = false;
  /** Whether the last leg has ended waiting. */
  #isParked = false;
  readonly asked: RehearsedInteraction[] = [];
  readonly called: CalledStep[] = [];
  readonly events: { readonly name: string; readonly data: JsonObject }[] = [];
  end: End | undefined;

  constructor(options: RehearsalOptions) {
    this.#options = options;
    this.#waits = new RehearsedWaits(options);
    this.#checkpoint = options.state === undefined ? null : { convoke: 1, state: options.state };
  }

  get text(): string {
    return this.#texts.join('');
  }

  /** Its waits for times, messages and called runs. */
  get waited(): Pick<RehearsedWaits, 'over' | 'elapsed' | 'isUsed' | 'started'> {
    return this.#waits;
  }

  /** Tokens of all legs together. */
  get tokens(): number {
    return this.#usage.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  get state(): JsonObject {
    const { state, before, base } = (this.#checkpoint ?? {}) as Record<
      string,
      JsonObject | undefined
    >;
    return state ?? before ?? base ?? {};
  }

  start(): StartMessage {
    const {
      prompt = '',
      input = { prompt },
      approvalRequiredTools = [],
      folder = '.',
      outputSchema = null,
    } = this.#options;
    this.legs += 1;
    this.#isParked = false;
    const isFirst = this.legs === 1;
    const calls = Object.fromEntries(
      [...this.#calls].map(([ref, call]): [string, KnownCall] => [ref, knownCall(call)]),
    );
    return {
      type: 'start',
      protocol: 2,
      run_id: 'run_1',
      session_id: 'sess_1',
      run_number: 1,
      input: isFirst
        ? { kind: 'prompt', prompt }
        : {
            kind: 'continue',
            prompt,
            answers: Object.fromEntries(this.#answers),
            calls,
            ...(this.#waits.isUsed && { waits: copied(this.#waits.known()) }),
          },
      run_input: input,
      callbacks: { url: 'https://convoke.example/v1/callbacks/run_1', key: 'cmVoZWFyc2Fs' },
      state: copied(this.#checkpoint),
      agent_changed: !isFirst && this.#options.edited !== undefined,
      workspace: folder,
      agent_folder: folder,
      agent: { approval_required_tools: approvalRequiredTools, output_schema: outputSchema },
    };
  }

  /** Stores a message of the kit. */
  record(message: KitMessage): void {
    switch (message.type) {
      case 'message_delta':
        this.#texts.push(message.text);
        break;
      case 'usage':
        this.#charge(message.model, message.input_tokens + message.output_tokens);
        break;
      case 'custom':
        this.events.push({ name: message.name, data: message.data });
        break;
      case 'user_question':
      case 'permission_request':
        this.#ask(message);
        break;
      case 'wait':
        if (message.kind === 'run') this.#call(message);
        else this.#waits.raise(message, this.#nextNumber);
        break;
      case 'call_begin':
        this.#begin(message);
        break;
      case 'call_end': {
        const call = this.#calls.get(message.call_id);
        if (call?.status !== 'begun')
          throw new Error(`The call ${message.call_id} ended without being started.`);
        Object.assign(call, { status: 'ended', ok: message.ok, output: message.output });
        break;
      }
      case 'checkpoint':
        this.#keep(message.state);
        break;
      case 'end':
        this.#isParked = message.outcome === 'waiting';
        if (message.outcome !== 'waiting' && message.outcome !== 'yielded') this.end = message;
        if (message.state !== undefined)
          this.#checkpoint = copied(message.state as unknown as Json);
        break;
      default:
        message satisfies never;
    }
    if ('point' in message && message.point !== undefined) this.#keep(message.point);
  }

  /** The server's reply to a call. If the intent is stored, the step counts as run from then on. */
  tell(ref: string): ServerMessage {
    const refused = this.#refused.get(ref);
    if (refused !== undefined) return refused;
    this.#markBegun(ref);
    return { type: 'call_begun', call_id: ref, idempotency_key: `run_1.${ref}` };
  }

  #markBegun(ref: string): void {
    const call = this.#calls.get(ref);
    if (call === undefined) return;
    call.isDone = true;
    const { name, input, isRepeatable } = call;
    this.called.push({ name, input, isRepeatable });
  }

  /**
   * The process is lost: text after the recovery point is discarded, and a table decides about calls that had begun
   * (D-710).
   */
  lose(): void {
    this.#texts.splice(this.#coveredTexts);
    this.#usage.push({ model: 'another leg', tokens: 0 });
    for (const [ref, call] of this.#calls) {
      if (call.status !== 'begun') continue;
      const isAllowed = this.#isAllowed(ref, call);
      const { becomes } =
        lostCalls.find(
          (row) => row.isRepeatable === call.isRepeatable && row.isAllowed === isAllowed,
        ) ?? {};
      // A person who is asked knows whether it ran.
      if (becomes !== 'again' && call.isDone) {
        this.hasDoubt = true;
        Object.assign(call, { status: 'left', output: 'Marked as completed.' });
      } else call.status = 'again';
    }
  }

  /**
   * Replies to everything that is open. If there was nothing to reply to and the leg has ended waiting, time passes
   * until what comes next settles a wait, or all of them.
   */
  reply(come: 'one' | 'all' = 'one'): void {
    if (this.end !== undefined || this.#answerAll() || !this.#isParked) return;
    const before = this.#waits.settledCount;
    let hasCome = this.#waits.advance(this.#nextNumber);
    while (hasCome && come === 'all') hasCome = this.#waits.advance(this.#nextNumber);
    if (this.#open.size > 0 && this.#waits.settledCount === before) {
      throw new Error('The run waits for a person who answers later, and for nothing else.');
    }
  }

  /** Whether anything was replied. */
  #answerAll(): boolean {
    const { answer = defaultReply } = this.#options;
    let hasAnswered = false;
    for (const [ref, asked] of this.#open) {
      const reply = answer(asked);
      if (typeof reply === 'object' && 'later' in reply) continue;
      const given = answerOf(asked, reply);
      this.#answers.set(ref, given);
      this.#open.delete(ref);
      hasAnswered = true;
      if (asked.kind === 'permission' && 'input' in given)
        this.#allowed.push({ ref, tool: asked.tool, input: given.input });
    }
    return hasAnswered;
  }

  /** The place that the next settled answer or wait gets. */
  get #nextNumber(): number {
    return this.#answers.size + this.#waits.settledCount + 1;
  }

  /** A framework may ask under another ref than that of the call (D-176). */
  #isAllowed(ref: string, { name, input }: LedgerEntry): boolean {
    if (this.#answers.get(ref)?.kind === 'permission') return true;
    return this.#allowed.some(
      (allowed) => allowed.tool === name && isDeepStrictEqual(allowed.input, input),
    );
  }

  #ask(message: Extract<KitMessage, { type: 'user_question' | 'permission_request' }>): void {
    if (this.#answers.has(message.ref) || this.#open.has(message.ref)) return;
    if (message.type === 'permission_request') {
      const { ref, tool_name: tool, tool_input: input } = message;
      const ruling = this.#decide({ tool, input });
      if (ruling.effect === 'deny') return this.#deny(ref, ruling.reason);
    }
    const asked: RehearsedInteraction =
      message.type === 'permission_request'
        ? { kind: 'permission', tool: message.tool_name, input: message.tool_input }
        : { kind: 'question', question: message.question, options: labels(message.options) };
    this.asked.push(asked);
    this.#open.set(message.ref, asked);
  }

  /** Rules are about calls of agents under the name `call_<agent>`; the approved input is the one that is started. */
  #call(message: Extract<KitMessage, { type: 'wait' }>): void {
    const { ref, name, input = {} } = message;
    if (this.#waits.has(ref)) return;
    const tool = `call_${name}`;
    const ruling = this.#decide({ tool, input });
    const answer = this.#answers.get(ref);
    const reason = ruling.effect === 'deny' ? ruling.reason : denialIn(answer);
    if (reason !== undefined) return this.#waits.refuse(message, reason, this.#nextNumber);
    if (ruling.effect === 'ask' && answer === undefined) {
      return this.#ask({ type: 'permission_request', ref, tool_name: tool, tool_input: input });
    }
    this.#waits.raise({ ...message, input: approvedIn(answer) ?? input }, this.#nextNumber);
  }

  #begin(message: Extract<KitMessage, { type: 'call_begin' }>): void {
    const known = this.#calls.get(message.call_id);
    const { call_id: ref, tool_name: name, tool_input: input } = message;
    if (known !== undefined && known.status !== 'again') {
      throw new Error(`The call ${ref} was started twice.`);
    }
    const refused =
      message.kind === 'model' ? undefined : this.#refusalOf(ref, { tool: name, input });
    if (refused !== undefined) {
      this.#refused.set(ref, refused);
      return;
    }
    this.#refused.delete(ref);
    this.#calls.set(ref, {
      name,
      input,
      isRepeatable: message.repeatable === true,
      status: 'begun',
      isDone: false,
      ok: true,
      output: '',
    });
  }

  #decide(call: RuledCall): Ruling {
    const { rules = [], approvalRequiredTools: tools = [] } = this.#options;
    return decide([...rules, { name: 'approval_required_tools', tools, effect: 'ask' }], call);
  }

  /**
   * A denial is stored as an answer, so that every later leg gets it (D-510). An allow is for one execution of its
   * input.
   */
  #refusalOf(ref: string, call: RuledCall): CallRefused | undefined {
    const refused = { type: 'call_refused', call_id: ref } as const;
    const ruling = this.#decide(call);
    if (ruling.effect === 'allow') return undefined;
    if (ruling.effect === 'deny') {
      this.#deny(ref, ruling.reason);
      return { ...refused, effect: 'deny', reason: ruling.reason };
    }
    const free = this.#allowed.filter(
      ({ tool, input, spentOn = ref }) =>
        spentOn === ref && tool === call.tool && isDeepStrictEqual(input, call.input),
    );
    const allowed = free.find((each) => each.ref === ref) ?? free[0];
    if (allowed === undefined) return { ...refused, effect: 'ask' };
    allowed.spentOn = ref;
    return undefined;
  }

  #deny(ref: string, reason: string): void {
    this.#answers.set(ref, { kind: 'permission', allow: false, reason });
  }

  /** A report is the sum of its leg: it replaces the previous one. */
  #charge(model: string | undefined, tokens: number): void {
    const last = this.#usage.findLastIndex((each) => each.model === model);
    const boundary = this.#usage.findLastIndex((each) => each.model === 'another leg');
    if (last > boundary) this.#usage.splice(last, 1);
    this.#usage.push({ model, tokens });
  }

  /** A leg has ended: sums of usage begin again. */
  endLeg(): void {
    this.#usage.push({ model: 'another leg', tokens: 0 });
  }

  #keep(point: Point): void {
    this.#checkpoint = copied(point as unknown as Json);
    this.#coveredTexts = this.#texts.length;
  }
}

function knownCall({ status, input, ok, output }: LedgerEntry): KnownCall {
  if (status === 'ended') return { state: 'ended', ok, output };
  return status === 'left' ? { state: 'left', note: output } : { state: 'again', input };
}
