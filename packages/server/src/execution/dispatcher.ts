import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunId, TenantId } from '@convoke/contract';
import type { Lease, Run } from '../domain/run.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { ReadyRun } from '../ports/repositories/runs.ts';
import type { Slot, RunSlots } from '../ports/run-slots.ts';
import { within } from '../runtime/within.ts';
import { type Claim, type ClaimedLeg, type Unclaimed, claimLeg, recallClaim } from './claim-leg.ts';
import { ExecutingRuns } from './executing-runs.ts';
import { supervise } from './leg-supervisor.ts';
import { retryStorage } from './retry-storage.ts';
import type { ExecutionServices } from './services.ts';

const claimsPerPass = 64;
const tenantsPerPass = 64;
/** When to look again for a run whose session somebody else held. */
const busyMs = 20;

export interface DispatchOptions {
  /** This process, as it signs its leases. */
  readonly owner: string;
  /** Whether it may still act under them. */
  readonly holdsLeases: () => boolean;
  /** Called when there may be something to claim, or a place for it. */
  readonly onFree: () => void;
}

/** The runs this process executes, and how it comes by them. */
export class Dispatcher implements RunSlots {
  readonly #services: ExecutionServices;
  readonly #options: DispatchOptions;
  readonly #executing = new ExecutingRuns();
  /** A request that gives a run its place must not lend the run its name. */
  readonly #inOwnContext = AsyncLocalStorage.snapshot();
  #isStopping = false;
  /** Where many tenants wait, a round takes several passes: all have a turn before the first has another. */
  #round: { after: TenantId | undefined; isCut: boolean } = { after: undefined, isCut: false };

  constructor(services: ExecutionServices, options: DispatchOptions) {
    this.#services = services;
    this.#options = options;
  }

  isExecuting(runId: RunId): boolean {
    return this.#executing.has(runId);
  }

  /** One pass: claims what is ready, up to the free places, and starts it. */
  async pass(): Promise<boolean> {
    const { store, settings } = this.#services;
    const free = settings.runConcurrency - this.#executing.size;
    if (free <= 0 || !this.#options.holdsLeases()) return false;
    const limit = Math.min(free, claimsPerPass);
    const { runs, next } = await store.read.runs.claimable({
      limit,
      perTenant: settings.tenantRunConcurrency,
      tenants: tenantsPerPass,
      after: this.#round.after,
    });
    const isNewRound = this.#round.after === undefined;
    const isCut = runs.length === limit || (!isNewRound && this.#round.isCut);
    this.#round = { after: next, isCut };
    // Since they were counted, others may have begun at once.
    const claims = runs.flatMap((run) => (this.#hasPlace(run, 1) ? [this.#claim(run)] : []));
    await Promise.all(claims);
    return next !== undefined || isCut;
  }

  /**
   * Where others leave half of the places free, whoever stands in line has one too: nobody is overtaken. It
   * counts this process only, so it holds where there is no other.
   */
  reserve(run: Run): Slot | undefined {
    if (this.#isStopping || !this.#options.holdsLeases() || !this.#hasPlace(run, 2)) {
      return undefined;
    }
    return this.#inOwnContext(() => {
      const { lease, begin, leave } = this.#take(run);
      const address = { scope: run, sessionId: run.sessionId, runId: run.id };
      return {
        lease,
        release: () => {
          leave();
          this.#options.onFree();
        },
        start: (claimed) => {
          const holder = { ...address, epoch: claimed.run.leaseEpoch };
          this.#inOwnContext(begin, { ...claimed, holder, answers: undefined });
        },
      };
    });
  }

  #hasPlace({ id, tenantId }: Pick<Run, 'id' | 'tenantId'>, share: number): boolean {
    const { runConcurrency, tenantRunConcurrency } = this.#services.settings;
    return (
      !this.#executing.has(id) &&
      this.#executing.size * share < runConcurrency &&
      this.#executing.ofTenant(tenantId) * share < tenantRunConcurrency
    );
  }

  /** Looks whether anything was asked of the runs under way, for where the wake-up may have been lost. */
  async checkControl(): Promise<boolean> {
    if (this.#executing.size === 0) return false;
    const held = await this.#services.store.read.runs.leasedBy(this.#options.owner);
    const quiet = new Set(held.filter(({ status }) => status === 'running').map(({ id }) => id));
    for (const [runId, { supervision }] of this.#executing.all()) {
      if (!quiet.has(runId)) supervision.checkControl();
    }
    return false;
  }

  /** Ends every leg here and now, and records nothing: the leases may be in other hands. */
  lose(): void {
    for (const [, { supervision }] of this.#executing.all()) supervision.lose();
  }

  /** Gives the legs under way some time to end by themselves, then ends their runs. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const ended = Promise.all(this.#executing.all().map(([, item]) => item.ended));
    await within({ clock: this.#services.clock, ms: graceMs, late: undefined }, ended);
    await Promise.all(this.#executing.all().map(([, item]) => item.supervision.abandon()));
  }

  async #claim(run: ReadyRun): Promise<void> {
    const { lease, begin, leave } = this.#take(run);
    try {
      const leg = await this.#claimFor(run, { lease, at: this.#services.clock.now() });
      if (leg === 'busy') this.#services.clock.after(busyMs, this.#options.onFree);
      if (typeof leg === 'string') leave();
      else begin(leg);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** A claim whose answer was lost may have been kept: then the run is ours, and nobody else will execute it. */
  async #claimFor(run: ReadyRun, claim: Claim): Promise<ClaimedLeg | Unclaimed> {
    const address = { scope: run, sessionId: run.sessionId, runId: run.id };
    try {
      return await claimLeg(this.#services, address, claim);
    } catch (error) {
      const { clock } = this.#services;
      const shouldRetry = () => this.#options.holdsLeases();
      if (!(error instanceof StorageUnavailable)) throw error;
      return retryStorage({ clock, shouldRetry }, () =>
        recallClaim(this.#services, address, claim),
      );
    }
  }

  /**
   * The run counts as executing, and its supervision listens, before the claim: so neither recovery nor a
   * cancel that follows the claim can slip in between.
   */
  #take(run: Pick<Run, 'id' | 'tenantId'>): Taken {
    const { clock, settings } = this.#services;
    const { owner, holdsLeases, onFree } = this.#options;
    const supervision = supervise(this.#services, run.id, holdsLeases);
    const ended = Promise.withResolvers<void>();
    this.#executing.add(run.id, { tenantId: run.tenantId, supervision, ended: ended.promise });
    const free = () => {
      this.#executing.remove(run.id);
      ended.resolve();
    };
    return {
      lease: { owner, expiresAt: clock.now() + settings.leaseMs },
      begin: (leg) =>
        void supervision.execute(leg).finally(() => {
          free();
          onFree();
        }),
      leave: () => {
        free();
        supervision.leave();
      },
    };
  }
}

/** A place that a run has, and how it gets to its end: `begin` or `leave`. */
interface Taken {
  readonly lease: Lease;
  readonly begin: (leg: ClaimedLeg) => void;
  readonly leave: () => void;
}
