/** A call of the agent, as a transcript knows it. */
export interface TranscriptCall {
  readonly id: string;
  readonly name: string;
  /** The framework named the call. */
  readonly isNamed: boolean;
  isOver: boolean;
}

export interface GivenId {
  readonly given: string | undefined;
  readonly isNamed: boolean;
}

/** The calls of one run. */
export class TranscriptCalls {
  /** How many calls an id stands for, and every id that was given to one. */
  readonly #uses = new Map<string, number>();
  /** By name, so that a result without an id finds its call at once. */
  readonly #open = new Map<string, OpenCalls>();
  /** Those that have no id of their own. */
  readonly #openWithoutId = new Map<string, OpenCalls>();
  /** The newest call of each id that a framework used: providers repeat them. */
  readonly #newest = new Map<string, TranscriptCall>();

  newest(given: string | undefined): TranscriptCall | undefined {
    return this.#newest.get(given ?? '');
  }

  /** The oldest open call of a name; only of those that have no id of their own, unless `isAny`. */
  openOf(name: string, isAny: boolean): TranscriptCall | undefined {
    return (isAny ? this.#open : this.#openWithoutId).get(name)?.oldest();
  }

  /** `given` is the framework's id of the call, or stands for one that it did not name. */
  begin(event: string, name: string, { given, isNamed }: GivenId): TranscriptCall {
    const base = given ?? `call-${event}`;
    let use = this.#uses.get(base) ?? 0;
    let id = base;
    do {
      use += 1;
      id = use === 1 ? base : `${base}#${use}`;
    } while (this.#uses.has(id));
    this.#uses.set(id, 1);
    this.#uses.set(base, use);
    const call: TranscriptCall = {
      id,
      name,
      isNamed: isNamed && given !== undefined,
      isOver: false,
    };
    addTo(this.#open, call);
    if (!call.isNamed) addTo(this.#openWithoutId, call);
    if (given !== undefined) this.#newest.set(given, call);
    return call;
  }
}

/** Open calls, the oldest first. */
class OpenCalls {
  #calls: TranscriptCall[] = [];
  #first = 0;

  add(call: TranscriptCall): void {
    this.#calls.push(call);
  }

  oldest(): TranscriptCall | undefined {
    while (this.#calls[this.#first]?.isOver === true) this.#first += 1;
    if (this.#first > this.#calls.length / 2) {
      this.#calls = this.#calls.slice(this.#first);
      this.#first = 0;
    }
    return this.#calls[this.#first];
  }
}

function addTo(open: Map<string, OpenCalls>, call: TranscriptCall): void {
  const calls = open.get(call.name) ?? new OpenCalls();
  open.set(call.name, calls);
  calls.add(call);
}
