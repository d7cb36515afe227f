import { Misuse } from '../failures.ts';
import { endOfWait } from '../waits/durations.ts';
import type { Json, JsonObject } from '../json.ts';
import { copied } from './replies.ts';
import type { CalledRun, KitMessage, KnownWait, SettledWait, WaitKind } from '../lines.ts';

/** A message that a client sends to the rehearsed run. */
export interface RehearsedSignal {
  readonly name: string;
  readonly data: Json;
  /** When, from the beginning of the run: such as `1h`. At once if absent. */
  readonly after?: string;
}

/** A wait of a rehearsed run that is over. */
export interface RehearsedWait {
  readonly kind: WaitKind;
  readonly name: string;
  readonly outcome: 'fired' | 'received' | 'timed_out' | 'completed' | 'failed' | 'refused';
}

/** A run that the rehearsed one calls. */
export interface RehearsedCall {
  readonly agent: string;
  readonly input: JsonObject;
}

/** The result of a called run: a text, or why it has none. */
export type CallReply =
  | string
  | { readonly ok: true; readonly text: string; readonly output?: Json }
  | { readonly ok: false; readonly code: string; readonly message: string };

export interface WaitOptions {
  /** Messages that are sent to the run. */
  readonly signals?: readonly RehearsedSignal[];
  /** The message that comes when the run asks for one of this name; undefined for none, and the time for it ends. */
  readonly message?: (name: string) => Json | undefined;
  /** The results of called runs; `done` by default. */
  readonly called?: (call: RehearsedCall) => CallReply;
  /** How long runs of an agent take, such as `{ researcher: '2h' }`. Others end at once. */
  readonly takes?: Readonly<Record<string, string>>;
}

type WaitMessage = Extract<KitMessage, { type: 'wait' }>;

interface Row {
  readonly kind: WaitKind;
  readonly name: string;
  readonly dueMs: number;
  /** Of a called run that ends before it is due. */
  readonly reply?: CalledRun;
  settled?: SettledWait & { readonly number: number };
}

/** As long as a server waits where neither the program nor its agent.yaml says how long. */
const defaultWaitMs = 72 * 3_600_000;

/** Times, messages and called runs that a rehearsed run waits for. Its clock moves as soon as the run is idle. */
export class RehearsedWaits {
  readonly #options: WaitOptions;
  readonly #rows = new Map<string, Row>();
  readonly #coming: { readonly atMs: number; readonly name: string; readonly data: Json }[];
  readonly #kept: { readonly name: string; readonly data: Json }[] = [];
  /** Receives for which `message` was asked. */
  readonly #asked = new Set<string>();
  readonly #began = Date.now();
  #nowMs = 0;
  readonly over: RehearsedWait[] = [];
  /** The runs that were started. */
  readonly started: RehearsedCall[] = [];

  constructor(options: WaitOptions) {
    this.#options = options;
    const at = ({ after, ...message }: RehearsedSignal) => ({ ...message, atMs: delayOf(after) });
    this.#coming = (options.signals ?? []).map(at).sort((a, b) => a.atMs - b.atMs);
    this.#receiveDue();
  }

  get elapsed(): number {
    return this.#nowMs / 1000;
  }

  get isWaiting(): boolean {
    return this.#open.length > 0;
  }

  /** Whether the run has waited for anything. */
  get isUsed(): boolean {
    return this.#rows.size > 0;
  }

  raise(wait: WaitMessage, number: number): void {
    const { ref, kind, name } = wait;
    if (this.#rows.has(ref)) return;
    if (kind === 'run') return this.#start(wait);
    this.#rows.set(ref, { kind, name, dueMs: this.#dueOf(wait) });
    const kept = kind === 'signal' ? this.#kept.findIndex((each) => each.name === name) : -1;
    const [message] = kept === -1 ? [] : this.#kept.splice(kept, 1);
    if (message !== undefined) this.#settle(ref, { kind: 'signal', data: message.data }, number);
  }

  has(ref: string): boolean {
    return this.#rows.has(ref);
  }

  /** Nothing is started: a person or a rule does not allow it. */
  refuse({ ref, kind, name }: WaitMessage, message: string, number: number): void {
    if (this.#rows.has(ref)) return;
    this.#rows.set(ref, { kind, name, dueMs: this.#nowMs });
    this.#settle(ref, { kind: 'run', ok: false, code: 'denied', message }, number);
  }

  #start(wait: WaitMessage): void {
    const { called = () => 'done', takes = {} } = this.#options;
    const { ref, kind, name, input = {} } = wait;
    const call = { agent: name, input };
    this.started.push(call);
    const number = this.started.length;
    const ids = { run_id: `run_called_${number}`, session_id: `sess_called_${number}` };
    const endsMs = this.#nowMs + delayOf(takes[name]);
    const isTimed = wait.until !== undefined || wait.for_seconds !== undefined;
    const dueMs = isTimed ? this.#dueOf(wait) : Number.POSITIVE_INFINITY;
    if (dueMs < endsMs) {
      const message = 'The called run did not end in time, and is cancelled.';
      const reply = { kind: 'run', ok: false, code: 'timed_out', message, ...ids } as const;
      this.#rows.set(ref, { kind, name, dueMs, reply });
      return;
    }
    this.#rows.set(ref, { kind, name, dueMs: endsMs, reply: runOf(called(call), ids) });
  }

  get settledCount(): number {
    return this.over.length;
  }

  known(): Record<string, KnownWait> {
    return Object.fromEntries(
      [...this.#rows].map(([ref, { kind, settled }]): [string, KnownWait] => [
        ref,
        settled === undefined ? { state: 'open', kind } : { ...settled, state: 'settled' },
      ]),
    );
  }

  /** Settles the next wait; false if none is open. `number` is the place of the settled wait. */
  advance(number: number): boolean {
    while (this.isWaiting) {
      if (this.#answerReceive(number)) return true;
      const [message] = this.#coming;
      const [first] = this.#open.toSorted(([, a], [, b]) => a.dueMs - b.dueMs);
      if (message !== undefined && (first === undefined || message.atMs <= first[1].dueMs)) {
        this.#coming.shift();
        this.#nowMs = Math.max(this.#nowMs, message.atMs);
        if (this.#deliver(message, number)) return true;
        continue;
      }
      if (first === undefined) return false;
      const [ref, row] = first;
      this.#nowMs = Math.max(this.#nowMs, row.dueMs);
      this.#settle(ref, endOf(row), number);
      return true;
    }
    return false;
  }

  get #open(): [string, Row][] {
    return [...this.#rows].filter(([, { settled }]) => settled === undefined);
  }

  #answerReceive(number: number): boolean {
    const { message } = this.#options;
    for (const [ref, { kind, name }] of this.#open) {
      if (message === undefined || kind !== 'signal' || this.#asked.has(ref)) continue;
      this.#asked.add(ref);
      const data = message(name);
      if (data === undefined) continue;
      this.#settle(ref, { kind, data: copied(data) }, number);
      return true;
    }
    return false;
  }

  /** A message goes to the oldest open receive of its name, else it is kept. */
  #deliver(
    { name, data }: { readonly name: string; readonly data: Json },
    number: number,
  ): boolean {
    const found = this.#open.find(([, row]) => row.kind === 'signal' && row.name === name);
    if (found === undefined) {
      this.#kept.push({ name, data });
      return false;
    }
    this.#settle(found[0], { kind: 'signal', data: copied(data) }, number);
    return true;
  }

  /** Those that are sent at once come before the run asks for them. */
  #receiveDue(): void {
    while (this.#coming[0]?.atMs === 0) {
      const message = this.#coming.shift();
      if (message !== undefined) this.#kept.push(message);
    }
  }

  #dueOf({ for_seconds: seconds, until }: WaitMessage): number {
    if (until !== undefined) return Math.max(this.#nowMs, Date.parse(until) - this.#began);
    return this.#nowMs + (seconds === undefined ? defaultWaitMs : seconds * 1000);
  }

  #settle(ref: string, wait: SettledWait, number: number): void {
    const row = this.#rows.get(ref);
    if (row === undefined) return;
    row.settled = { ...wait, number };
    this.over.push({ kind: row.kind, name: row.name, outcome: outcomeOf(wait) });
  }
}

/** What settles a wait when its time has come. */
function endOf({ kind, reply }: Row): SettledWait {
  if (reply !== undefined) return reply;
  return kind === 'timer' ? { kind, fired: true } : { kind: 'signal', timed_out: true };
}

function outcomeOf(wait: SettledWait): RehearsedWait['outcome'] {
  if (wait.kind === 'timer') return 'fired';
  if (wait.kind === 'signal') return 'data' in wait ? 'received' : 'timed_out';
  if (wait.ok) return 'completed';
  if (wait.code === 'timed_out') return 'timed_out';
  return wait.run_id === undefined ? 'refused' : 'failed';
}

function runOf(
  reply: CallReply,
  ids: { readonly run_id: string; readonly session_id: string },
): CalledRun {
  if (typeof reply === 'string') return { kind: 'run', ok: true, text: reply, ...ids };
  return { kind: 'run', ...copied({ ...reply }), ...ids };
}

function delayOf(after: string | undefined): number {
  if (after === undefined) return 0;
  const end = endOfWait('after, or takes', after);
  if (!('for_seconds' in end)) throw new Misuse('after, or takes, is a time such as 1h');
  return end.for_seconds * 1000;
}
