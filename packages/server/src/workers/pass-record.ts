import type { Clock } from '../ports/clock.ts';
import type { Metrics } from '../ports/metrics.ts';

/** State of one pass, as `/metrics` and `convoke doctor` show it. Times are those of the server's clock. */
export interface PassState {
  readonly name: string;
  readonly everyMs: number;
  /** Start of the execution under way; null between executions. */
  readonly runningSince: number | null;
  readonly lastStartedAt: number | null;
  readonly lastSucceededAt: number | null;
  readonly lastDurationMs: number | null;
  readonly failuresInARow: number;
  /** Message of the latest failure; null once the pass succeeded again. */
  readonly lastError: string | null;
}

const messageMaxCharacters = 300;

/** Records the outcome and the duration of each execution of one pass. */
export class PassRecord {
  readonly #parts: { readonly clock: Clock; readonly metrics: Metrics };
  #state: PassState;
  #began = 0;

  constructor(
    { name, everyMs }: Pick<PassState, 'name' | 'everyMs'>,
    parts: { readonly clock: Clock; readonly metrics: Metrics },
  ) {
    this.#parts = parts;
    this.#state = {
      name,
      everyMs,
      runningSince: null,
      lastStartedAt: null,
      lastSucceededAt: null,
      lastDurationMs: null,
      failuresInARow: 0,
      lastError: null,
    };
    // A counter that exists from the start lets an alert see its first increase.
    parts.metrics.passFailures.add(0, name);
  }

  get state(): PassState {
    return this.#state;
  }

  begin(): void {
    const now = this.#parts.clock.now();
    this.#began = this.#parts.metrics.seconds();
    this.#state = { ...this.#state, runningSince: now, lastStartedAt: now };
  }

  succeed(): void {
    const lastSucceededAt = this.#parts.clock.now();
    this.#end({ lastSucceededAt, failuresInARow: 0, lastError: null });
  }

  fail(error: unknown): void {
    const failuresInARow = this.#state.failuresInARow + 1;
    this.#parts.metrics.passFailures.add(1, this.#state.name);
    this.#end({ failuresInARow, lastError: publicMessage(error) });
  }

  #end(outcome: Partial<PassState>): void {
    const lastDurationMs = (this.#parts.metrics.seconds() - this.#began) * 1000;
    this.#state = { ...this.#state, ...outcome, lastDurationMs, runningSince: null };
  }
}

/** The first line of the message, without the user and password of any URL in it. */
function publicMessage(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.replace(/(\w+:\/\/)[^\s/@]*@/g, '$1').slice(0, messageMaxCharacters);
}
