/**
 * Turns for hashing passwords. A hash is expensive, so only a few are computed at once and a few more may wait: a flood
 * of sign-in attempts must not exhaust the machine. One network gets one turn at a time, so it cannot take them all.
 */
export interface PasswordTurns {
  /** Runs the work in a turn. Undefined, without running it, when too many wait already. */
  take<T>(network: string, work: () => Promise<T>): Promise<T | undefined>;
}

const concurrentMax = 2;
const waitingMax = 32;
const waitingPerNetworkMax = 4;

interface Waiting {
  readonly network: string;
  readonly start: () => void;
}

export function createPasswordTurns(): PasswordTurns {
  const working = new Set<string>();
  const waiting: Waiting[] = [];

  function startNext(): void {
    if (working.size >= concurrentMax) return;
    const index = waiting.findIndex(({ network }) => !working.has(network));
    const next = index === -1 ? undefined : waiting.splice(index, 1)[0];
    if (next === undefined) return;
    working.add(next.network);
    next.start();
  }

  return {
    async take(network, work) {
      const own = waiting.filter((one) => one.network === network).length;
      if (waiting.length >= waitingMax || own >= waitingPerNetworkMax) return undefined;
      await new Promise<void>((start) => {
        waiting.push({ network, start });
        startNext();
      });
      try {
        return await work();
      } finally {
        working.delete(network);
        startNext();
      }
    },
  };
}
