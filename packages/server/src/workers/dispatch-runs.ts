import type { RunId, TenantId } from '@convoke/contract';
import { claimLeg } from '../app/leg-claim.ts';
import { type SuperviseServices, type Supervision, supervise } from '../harness/supervise.ts';
import type { Clock } from '../ports/clock.ts';
import type { ReadyRun } from '../ports/repositories/runs.ts';

const claimsPerPass = 64;
const tenantsPerPass = 64;
/** When to look again for a run whose session somebody else held. */
const busyMs = 20;

export interface Dispatcher {
  /** One pass: claims what is ready, up to the free places, and starts it. */
  readonly pass: () => Promise<boolean>;
  readonly isExecuting: (runId: RunId) => boolean;
  /** Looks whether anything was asked of the runs under way, for where the wake-up may have been lost. */
  readonly attend: () => Promise<boolean>;
  /** Ends every leg here and now, and records nothing: the leases may be in other hands. */
  lose(): void;
  /** Gives the legs under way some time to end by themselves, then ends their runs. */
  stop(graceMs: number): Promise<void>;
}

export interface DispatchOptions {
  /** This process, as it signs its leases. */
  readonly owner: string;
  /** Whether it may still act under them. */
  readonly holdsLeases: () => boolean;
  /** Called when a place has become free. */
  readonly onFree: () => void;
}

export function createDispatcher(
  services: SuperviseServices,
  { owner, holdsLeases, onFree }: DispatchOptions,
): Dispatcher {
  const { store, clock, settings } = services;
  const executing = new Map<RunId, { supervision: Supervision; ended: Promise<void> }>();

  // Where many tenants wait, a round takes several passes: all have a turn before the first has another.
  let round: { after: TenantId | undefined; isCut: boolean } = { after: undefined, isCut: false };

  async function pass(): Promise<boolean> {
    const free = settings.runConcurrency - executing.size;
    if (free <= 0 || !holdsLeases()) return false;
    const limit = Math.min(free, claimsPerPass);
    const { runs, next } = await store.read.runs.claimable({
      limit,
      perTenant: settings.tenantRunConcurrency,
      tenants: tenantsPerPass,
      after: round.after,
    });
    const isNewRound = round.after === undefined;
    round = { after: next, isCut: runs.length === limit || (!isNewRound && round.isCut) };
    await Promise.all(runs.filter((run) => !executing.has(run.id)).map(claim));
    return next !== undefined || round.isCut;
  }

  /**
   * The run counts as executing, and its supervision listens, before the claim: so neither recovery nor a
   * cancel that follows the claim can slip in between.
   */
  async function claim(run: ReadyRun): Promise<void> {
    const supervision = supervise(services, run.id, holdsLeases);
    const claimed = Promise.withResolvers<void>();
    executing.set(run.id, { supervision, ended: claimed.promise });
    try {
      const address = { scope: run, sessionId: run.sessionId, runId: run.id };
      const lease = { owner, expiresAt: clock.now() + settings.leaseMs };
      const leg = await claimLeg(services, address, lease);
      if (leg === 'busy') clock.after(busyMs, onFree);
      if (typeof leg === 'string') return leave(run.id, supervision);
      const ended = supervision.execute(leg).finally(() => {
        executing.delete(run.id);
        onFree();
      });
      executing.set(run.id, { supervision, ended });
    } catch (error) {
      leave(run.id, supervision);
      throw error;
    } finally {
      claimed.resolve();
    }
  }

  function leave(runId: RunId, supervision: Supervision): void {
    executing.delete(runId);
    supervision.leave();
  }

  return {
    pass,
    isExecuting: (runId) => executing.has(runId),

    async attend() {
      if (executing.size === 0) return false;
      const held = await store.read.runs.leasedBy(owner);
      const quiet = new Set(held.filter(({ status }) => status === 'running').map(({ id }) => id));
      for (const [runId, { supervision }] of executing) {
        if (!quiet.has(runId)) supervision.attend();
      }
      return false;
    },

    lose() {
      for (const { supervision } of executing.values()) supervision.lose();
    },

    async stop(graceMs) {
      const ended = Promise.all(Array.from(executing.values(), (item) => item.ended));
      await atMost(graceMs, ended, clock);
      await Promise.all(Array.from(executing.values(), (item) => item.supervision.abandon()));
    },
  };
}

async function atMost(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  const patience = Promise.withResolvers<void>();
  const forget = clock.after(ms, patience.resolve);
  await Promise.race([work, patience.promise]);
  forget();
}
