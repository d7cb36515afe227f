import { Misuse } from '../failures.ts';
import { endOfWait } from '../waits/durations.ts';
import type { Json } from '../json.ts';
import type { KitMessage, KnownWait, SettledWait, WaitKind } from '../lines.ts';

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
  readonly outcome: 'fired' | 'received' | 'timed_out';
}

export interface WaitOptions {
  /** Messages that are sent to the run. */
  readonly signals?: readonly RehearsedSignal[];
  /** The message that comes when the run asks for one of this name; undefined for none, and the time for it ends. */
  readonly message?: (name: string) => Json | undefined;
}

interface Row {
  readonly kind: WaitKind;
  readonly name: string;
  readonly dueMs: number;
  settled?: SettledWait & { readonly number: number };
}

/** As long as a server waits where neither the program nor its agent.yaml says how long. */
const defaultWaitMs = 72 * 3_600_000;

/** What a rehearsed run waits for beside a person, with a clock that moves as soon as there is nothing else to do. */
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

  raise(wait: Extract<KitMessage, { type: 'wait' }>, number: number): void {
    const { ref, kind, name } = wait;
    if (this.#rows.has(ref)) return;
    this.#rows.set(ref, { kind, name, dueMs: this.#dueOf(wait) });
    const kept = kind === 'signal' ? this.#kept.findIndex((each) => each.name === name) : -1;
    const [message] = kept === -1 ? [] : this.#kept.splice(kept, 1);
    if (message !== undefined) this.#settle(ref, { kind: 'signal', data: message.data }, number);
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

  /** What comes next settles one wait; false if nothing is open. `number` is the place of the settled wait. */
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
      const [ref, { kind, dueMs }] = first;
      this.#nowMs = Math.max(this.#nowMs, dueMs);
      this.#settle(
        ref,
        kind === 'timer' ? { kind, fired: true } : { kind, timed_out: true },
        number,
      );
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

  #dueOf({ for_seconds: seconds, until }: Extract<KitMessage, { type: 'wait' }>): number {
    if (until !== undefined) return Math.max(this.#nowMs, Date.parse(until) - this.#began);
    return this.#nowMs + (seconds === undefined ? defaultWaitMs : seconds * 1000);
  }

  #settle(ref: string, wait: SettledWait, number: number): void {
    const row = this.#rows.get(ref);
    if (row === undefined) return;
    row.settled = { ...wait, number };
    const outcome = 'data' in wait ? 'received' : wait.kind === 'timer' ? 'fired' : 'timed_out';
    this.over.push({ kind: row.kind, name: row.name, outcome });
  }
}

function delayOf(after: string | undefined): number {
  if (after === undefined) return 0;
  const end = endOfWait(`signals: after`, after);
  if (!('for_seconds' in end)) throw new Misuse('signals: after is a time such as 1h');
  return end.for_seconds * 1000;
}

function copied(data: Json): Json {
  return JSON.parse(JSON.stringify(data)) as Json;
}
