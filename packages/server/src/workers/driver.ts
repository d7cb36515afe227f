import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** Bounded, idempotent work that takes no input. True means: there may be more, come again at once. */
export type Pass = () => Promise<boolean>;

export interface Driver {
  /** Asks for a pass. During one, it means one more afterwards. */
  wake(): void;
  /** No pass starts any more; resolves when the one under way is over. */
  stop(): Promise<void>;
}

export interface DriverOptions {
  readonly name: string;
  readonly everyMs: number;
  readonly pass: Pass;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs one kind of background work periodically and on demand, never twice at once. */
export function drive({ name, everyMs, pass, clock, log }: DriverOptions): Driver {
  let isStopped = false;
  let isWoken = false;
  let underWay: Promise<void> | undefined;
  let forgetTimer = () => {};

  function wake(): void {
    if (isStopped) return;
    isWoken = true;
    underWay ??= run().finally(() => {
      underWay = undefined;
      // Woken after the last look and before this moment: that must not wait for the next period.
      if (isWoken) wake();
    });
  }

  async function run(): Promise<void> {
    forgetTimer();
    while (isWoken && !isStopped) {
      isWoken = false;
      try {
        if (await pass()) isWoken = true;
      } catch (error) {
        // The next period tries again; a pass that fails has changed nothing it did not commit.
        log.error(`${name} failed and will be tried again`, error);
        isWoken = false;
      }
    }
    if (!isStopped) forgetTimer = clock.after(everyMs, wake);
  }

  wake();
  return {
    wake,
    async stop() {
      isStopped = true;
      forgetTimer();
      await underWay;
    },
  };
}
