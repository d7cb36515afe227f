import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import { PassRecord, type PassState } from './pass-record.ts';

/** Bounded, idempotent work without input. Returns true when there may be more to do at once. */
export type Pass = () => Promise<boolean>;

export interface Driver {
  readonly state: PassState;
  /** Requests a pass. During a pass, requests one more after it. */
  wake(): void;
  /** Starts no further pass; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

export interface DriverOptions {
  readonly name: string;
  readonly everyMs: number;
  readonly pass: Pass;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Executes one pass periodically and on demand, never twice at once, from the first `wake` on. */
export function drive({ name, everyMs, pass, clock, log, metrics }: DriverOptions): Driver {
  const record = new PassRecord({ name, everyMs }, { clock, metrics });
  let isStopped = false;
  let isWoken = false;
  let underWay: Promise<void> | undefined;
  let cancelTimer = () => {};

  function wake(): void {
    if (isStopped) return;
    isWoken = true;
    underWay ??= run().finally(() => {
      underWay = undefined;
      // A wake-up after the loop's last check must not wait for the next period.
      if (isWoken) wake();
    });
  }

  async function run(): Promise<void> {
    cancelTimer();
    while (isWoken && !isStopped) {
      isWoken = false;
      record.begin();
      try {
        if (await pass()) isWoken = true;
        record.succeed();
      } catch (error) {
        // The next period retries; a failed pass has changed nothing that it did not commit.
        record.fail(error);
        log.error(`background pass "${name}" failed; it will be retried`, error);
        isWoken = false;
      }
    }
    if (!isStopped) cancelTimer = clock.after(everyMs, wake);
  }

  return {
    get state() {
      return record.state;
    },
    wake,
    async stop() {
      isStopped = true;
      cancelTimer();
      await underWay;
    },
  };
}
