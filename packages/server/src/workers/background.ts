import {
  endParkedCancellations,
  expireInteractions,
  expireSessions,
  reconcileRuns,
} from '../app/recover.ts';
import type { SuperviseServices } from '../harness/supervise.ts';
import { createDispatcher } from './dispatch-runs.ts';
import { type Pass, drive } from './driver.ts';

export interface Background {
  /** Stops claiming, lets legs end for a while, ends the rest, and waits for every pass under way. */
  stop(graceMs: number): Promise<void>;
}

export interface BackgroundOptions {
  readonly owner: string;
  /** On one machine nobody else can hold a lease: those of an earlier process are void at once. */
  readonly isAlone: boolean;
  /** Work of other nouns, by name. */
  readonly passes: Readonly<Record<string, Pass | SlowPass>>;
}

/** Work that need not be looked for every second. */
export interface SlowPass {
  readonly everyMs: number;
  readonly pass: Pass;
}

export function everyMinute(pass: Pass): SlowPass {
  return { everyMs: 60 * second, pass };
}

export function hourly(pass: Pass): SlowPass {
  return { everyMs: 3600 * second, pass };
}

const second = 1000;

/** Everything that happens without a request. Recovery has run once before this returns. */
export async function startBackground(
  services: SuperviseServices,
  { owner, isAlone, passes }: BackgroundOptions,
): Promise<Background> {
  const { store, clock, log, fanout, settings } = services;
  const every = (name: string, everyMs: number, pass: Pass) =>
    drive({ name, everyMs, pass, clock, log });
  const dispatcher = createDispatcher(services, { owner, onFree: () => dispatching.wake() });
  const leases = { owner, isExecuting: dispatcher.isExecuting };
  if (isAlone) await store.transaction((tx) => tx.runs.voidLeasesExcept(owner));
  while (await reconcileRuns(services, leases));

  const renew = async () => {
    const expiresAt = clock.now() + settings.leaseMs;
    await store.transaction((tx) => tx.runs.renewLeases(owner, expiresAt));
    return false;
  };
  const dispatching = every('dispatching runs', second, dispatcher.pass);
  const cancelling = every('ending cancelled runs', second, () => endParkedCancellations(services));
  const drivers = [
    dispatching,
    cancelling,
    every('renewing leases', settings.leaseMs / 3, renew),
    every('reconciling runs', 2 * second, () => reconcileRuns(services, leases)),
    every('expiring interactions', 5 * second, () => expireInteractions(services)),
    every('expiring sessions', 60 * second, () => expireSessions(services)),
    ...Object.entries(passes).map(([name, work]) =>
      typeof work === 'function' ? every(name, second, work) : every(name, work.everyMs, work.pass),
    ),
  ];
  const unsubscribe = fanout.subscribe('work', () => {
    dispatching.wake();
    cancelling.wake();
  });

  return {
    async stop(graceMs) {
      unsubscribe();
      await dispatching.stop();
      await dispatcher.stop(graceMs);
      await Promise.all(drivers.map((driver) => driver.stop()));
    },
  };
}
