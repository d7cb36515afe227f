import type { RunId } from '@convoke/contract';
import { Dispatcher } from '../execution/dispatcher.ts';
import { LeaseWatch } from '../execution/lease-watch.ts';
import type { ExecutionServices } from '../execution/services.ts';
import type { RunSlots } from '../ports/run-slots.ts';
import { type Pass, drive } from './driver.ts';
import { endParkedCancellations } from './end-parked-cancellations.ts';
import { expireInteractions } from './expire-interactions.ts';
import { expireSessions } from './expire-sessions.ts';
import { reconcileRuns } from './reconcile-runs.ts';

export interface Background extends RunSlots {
  /** Stops claiming, lets legs end for a while, ends the rest, and waits for every pass under way. */
  stop(graceMs: number): Promise<void>;
}

export interface BackgroundOptions {
  readonly owner: string;
  /** On one machine nobody else can hold a lease: those of an earlier process are void at once. */
  readonly isAlone: boolean;
  /** Time that no one can set. */
  readonly elapsed: () => number;
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
  services: ExecutionServices,
  { owner, isAlone, elapsed, passes }: BackgroundOptions,
): Promise<Background> {
  const { store, clock, log, fanout, settings } = services;
  const every = (name: string, everyMs: number, pass: Pass) =>
    drive({ name, everyMs, pass, clock, log });
  const watch = new LeaseWatch({ owner, leaseMs: settings.leaseMs, store, clock, elapsed });
  const dispatcher = new Dispatcher(services, {
    owner,
    holdsLeases: () => isAlone || watch.holds,
    onFree: () => dispatching.wake(),
  });
  const leases = {
    owner,
    isExecuting: (runId: RunId) => dispatcher.isExecuting(runId),
    mayJudgeOthers: () => isAlone || watch.mayJudge,
  };
  if (isAlone) await store.transaction((tx) => tx.runs.voidLeasesExcept(owner));
  while (await reconcileRuns(services, leases));

  const renew = async () => {
    await watch.renew();
    return false;
  };
  const keepWatch = async () => {
    if (!watch.holds) dispatcher.lose();
    return false;
  };
  const dispatching = every('dispatching runs', second, () => dispatcher.pass());
  const cancelling = every('ending cancelled runs', second, () => endParkedCancellations(services));
  const drivers = [
    dispatching,
    cancelling,
    every('renewing leases', settings.leaseMs / 5, renew),
    every('reconciling runs', 2 * second, () => reconcileRuns(services, leases)),
    every('expiring interactions', 5 * second, () => expireInteractions(services)),
    every('expiring sessions', 60 * second, () => expireSessions(services)),
    ...(isAlone ? [] : [every('watching leases', second, keepWatch)]),
    ...(fanout.lossless
      ? []
      : [every('attending to runs', second, () => dispatcher.checkControl())]),
    ...Object.entries(passes).map(([name, work]) =>
      typeof work === 'function' ? every(name, second, work) : every(name, work.everyMs, work.pass),
    ),
  ];
  const unsubscribe = fanout.subscribe('work', () => {
    dispatching.wake();
    cancelling.wake();
  });

  return {
    // Who is not alone does not know how many places others have given to a tenant.
    reserve: (run) => (isAlone ? dispatcher.reserve(run) : undefined),

    async stop(graceMs) {
      unsubscribe();
      await dispatching.stop();
      await dispatcher.stop(graceMs);
      await Promise.all(drivers.map((driver) => driver.stop()));
    },
  };
}
