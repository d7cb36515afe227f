import { setTimeout as pause } from 'node:timers/promises';

/** For one request in all. A service that asks for more has its 429 taken for the answer. */
const patienceMs = 90_000;
const firstPauseMs = 500;

/** Waits where the service answers 429, and knows how long the kit has waited: that time is not the checks' (D-488). */
export class RateWaits {
  readonly #over: AbortSignal;
  #waiting = 0;
  #since = 0;
  #endedMs = 0;

  constructor(over: AbortSignal) {
    this.#over = over;
  }

  /** The time in which at least one request waited. */
  get totalMs(): number {
    return this.#endedMs + (this.#waiting > 0 ? performance.now() - this.#since : 0);
  }

  /** Sends until the answer is not 429, with the pauses that the service asks for. */
  async answered<Answer>(
    send: () => Promise<Answer>,
    refusalOf: (answer: Answer) => { readonly status: number; readonly headers: Headers },
  ): Promise<Answer> {
    let waitedMs = 0;
    for (let times = 0; ; times += 1) {
      const answer = await send();
      const { status, headers } = refusalOf(answer);
      if (status !== 429) return answer;
      const ms = askedMs(headers.get('retry-after')) ?? backoffMs(times);
      waitedMs += ms;
      if (waitedMs > patienceMs) return answer;
      await this.#wait(ms);
    }
  }

  async #wait(ms: number): Promise<void> {
    if (this.#waiting === 0) this.#since = performance.now();
    this.#waiting += 1;
    try {
      await pause(ms, undefined, { signal: this.#over });
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#endedMs += performance.now() - this.#since;
    }
  }
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function askedMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const ms = Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Section 7: exponential, with jitter. */
function backoffMs(times: number): number {
  return firstPauseMs * 2 ** times * (0.5 + Math.random() / 2);
}
