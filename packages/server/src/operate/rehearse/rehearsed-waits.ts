import type { Json } from '../../domain/json.ts';
import {
  type CompletedRun,
  type KnownWait,
  type Wait,
  type WaitResult,
  keptMessage,
  knownWaits,
  openCall,
  openWait,
  resultAtEnd,
  settleWait,
  takeKept,
} from '../../domain/run/wait.ts';
import { organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import type { HarnessEvent } from '../../ports/harness.ts';

/** A message that a client sends to the rehearsed run, before it begins. */
export interface RehearsedSignal {
  readonly name: string;
  readonly data: Json;
}

/** What a called run answers. */
export type CalledAnswer = Pick<CompletedRun, 'outputText' | 'output'>;

const done: CalledAnswer = { outputText: 'done', output: null };

/** What comes to a rehearsed run from outside. */
export interface RehearsedComings {
  /** Messages, sent before it begins. Others do not come. */
  readonly signals: readonly RehearsedSignal[];
  /** The answers of called runs, by agent; the text `done` for any other. */
  readonly calls: ReadonlyMap<string, CalledAnswer>;
}

/** Of a run that is in no database. */
const nowhere = {
  organizationId: organizationId('org_rehearsed'),
  tenantId: tenantId('ten_rehearsed'),
  sessionId: sessionId('sess_rehearsed'),
  runId: runId('run_rehearsed'),
};

/** A wait of a rehearsed run that is over. */
export interface EndedWait extends Pick<Wait, 'kind' | 'name'> {
  readonly outcome: WaitResult['outcome'];
  /** Why a call was refused. */
  readonly message?: string;
  /** For how long the run has waited for it, in seconds. No real time passes. */
  readonly seconds: number;
}

export type CallEvent = Extract<HarnessEvent, { type: 'wait'; kind: 'run' }>;

/** A run of another agent that the rehearsed one has started. */
export interface StartedRun {
  readonly agent: string;
  readonly input: Json;
}

/** A person who is at hand while a run is rehearsed. */
export interface Outside {
  /** The message that comes where the run asks for one; undefined: none comes, and the time for it ends. */
  readonly message?: (name: string) => Promise<Json | undefined>;
  /** What a called run answers. */
  readonly called?: (call: StartedRun) => Promise<CalledAnswer>;
}

type Refused = Pick<Extract<WaitResult, { outcome: 'refused' }>, 'code' | 'message'>;

/** What a rehearsed run waits for beside a person. Its clock moves as soon as there is nothing else to do. */
export class RehearsedWaits {
  readonly #waitMs: number;
  #waits: Wait[] = [];
  #now: number;
  readonly over: EndedWait[] = [];
  /** By the id of their wait. */
  readonly #started = new Map<string, StartedRun>();
  /** What a person said that a called run answers, by the id of its wait. */
  readonly #answers = new Map<string, CalledAnswer>();
  /** Waits that a person was asked about. */
  readonly #heard = new Set<string>();

  readonly #calls: ReadonlyMap<string, CalledAnswer>;

  constructor(
    waitHours: number,
    { signals = [], calls = new Map() }: Partial<RehearsedComings>,
    now: number,
  ) {
    this.#waitMs = waitHours * 3_600_000;
    this.#calls = calls;
    this.#now = now;
    for (const message of signals) {
      this.#waits.push(keptMessage({ ...nowhere, id: this.#nextId }, message, now));
    }
  }

  get #nextId(): string {
    return `wait_${String(this.#waits.length).padStart(6, '0')}`;
  }

  has(ref: string): boolean {
    return this.#waits.some((wait) => wait.ref === ref);
  }

  raise(event: Extract<HarnessEvent, { type: 'wait' }>, number: number): void {
    if (this.has(event.ref)) return;
    if (event.kind === 'run') return this.#call(event);
    const { ref, kind, name, due = { inMs: this.#waitMs } } = event;
    const isKept = (wait: Wait) => wait.ref === null && wait.name === name;
    const kept = kind === 'signal' ? this.#waits.find(isKept) : undefined;
    if (kept !== undefined) {
      this.#replace(takeKept(kept, ref, { number, now: this.#now }), 0);
      return;
    }
    const request = { ref, kind, name, due };
    this.#waits.push(openWait({ ...nowhere, id: this.#nextId }, request, this.#now));
  }

  /** The called run ends at once, with the answer that is given for its agent. */
  #call(event: CallEvent): void {
    this.#started.set(this.#nextId, { agent: event.name, input: event.input });
    const id = runId(`run_called_${this.#waits.length}`);
    const called = { id, sessionId: sessionId(`sess_called_${this.#waits.length}`) };
    const now = this.#now;
    const wait = openCall({ ...nowhere, id: this.#nextId }, event, { called, now });
    this.#waits.push({ ...wait, dueAt: now });
  }

  /** Nothing is started: it may not be called so, or a rule or a person does not allow it. */
  refuse(event: CallEvent, why: Refused, number: number): void {
    const now = this.#now;
    const wait = openCall({ ...nowhere, id: this.#nextId }, event, { called: undefined, now });
    this.#waits.push(wait);
    this.#replace(settleWait(wait, { outcome: 'refused', ...why }, { number, now }), 0);
  }

  /** Whether the run has waited for anything. */
  get isUsed(): boolean {
    return this.#waits.some(({ ref }) => ref !== null);
  }

  get started(): readonly StartedRun[] {
    return [...this.#started.values()];
  }

  get openCount(): number {
    return this.#waits.filter(({ status }) => status === 'open').length;
  }

  get settledCount(): number {
    return this.over.length;
  }

  known(): ReadonlyMap<string, KnownWait> {
    const called = this.#waits.flatMap(({ id: wait, name, childRunId: id }) => {
      const answer = this.#calls.get(name) ?? this.#answers.get(wait) ?? done;
      return id === null ? [] : [{ id, ...answer }];
    });
    return knownWaits(this.#waits, called);
  }

  /** Asks a person once about each thing that the run waits for. Returns whether a message has come. */
  async hear({ message, called }: Outside, number: number): Promise<boolean> {
    const isNew = ({ id, status }: Wait) => status === 'open' && !this.#heard.has(id);
    for (const wait of this.#waits.filter(isNew)) {
      const { id, kind, name, createdAt } = wait;
      this.#heard.add(id);
      const call = this.#started.get(id);
      if (called !== undefined && call !== undefined && !this.#calls.has(name)) {
        this.#answers.set(id, await called(call));
      }
      const data = kind === 'signal' ? await message?.(name) : undefined;
      if (data === undefined) continue;
      const settled = settleWait(wait, { outcome: 'received', data }, { number, now: this.#now });
      this.#replace(settled, (this.#now - createdAt) / 1000);
      return true;
    }
    return false;
  }

  /** Time passes until the next wait is over; false if none is open. */
  advance(number: number): boolean {
    const open = this.#waits.filter(({ status }) => status === 'open');
    const [next] = open.toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
    if (next === undefined) return false;
    this.#now = Math.max(this.#now, next.dueAt ?? 0);
    const result: WaitResult = next.kind === 'run' ? { outcome: 'completed' } : resultAtEnd(next);
    const settled = settleWait(next, result, { number, now: this.#now });
    this.#replace(settled, (this.#now - next.createdAt) / 1000);
    return true;
  }

  #replace(wait: Wait, seconds: number): void {
    this.#waits = this.#waits.map((each) => (each.id === wait.id ? wait : each));
    const { kind, name, result } = wait;
    const message = result !== null && 'message' in result ? { message: result.message } : {};
    this.over.push({ kind, name, outcome: result?.outcome ?? 'fired', ...message, seconds });
  }
}
