import type { RunId, TenantId } from '@convoke/contract';
import { claimLeg } from '../app/leg-claim.ts';
import { type SuperviseServices, type Supervision, supervise } from '../harness/supervise.ts';
import type { Clock } from '../ports/clock.ts';
import type { ReadyRun } from '../ports/repositories/runs.ts';

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

interface Executing {
  readonly supervision: Supervision;
  readonly ended: Promise<void>;
}

/** The runs this process executes, and how it comes by them. */
export class Dispatcher {
  readonly #services: SuperviseServices;
  readonly #options: DispatchOptions;
  readonly #executing = new Map<RunId, Executing>();
  /** Where many tenants wait, a round takes several passes: all have a turn before the first has another. */
  #round: { after: TenantId | undefined; isCut: boolean } = { after: undefined, isCut: false };

  constructor(services: SuperviseServices, options: DispatchOptions) {
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
    const unknown = runs.filter((run) => !this.#executing.has(run.id));
    await Promise.all(unknown.map((run) => this.#claim(run)));
    return next !== undefined || isCut;
  }

  /** Looks whether anything was asked of the runs under way, for where the wake-up may have been lost. */
  async attend(): Promise<boolean> {
    if (this.#executing.size === 0) return false;
    const held = await this.#services.store.read.runs.leasedBy(this.#options.owner);
    const quiet = new Set(held.filter(({ status }) => status === 'running').map(({ id }) => id));
    for (const [runId, { supervision }] of this.#executing) {
      if (!quiet.has(runId)) supervision.attend();
    }
    return false;
  }

  /** Ends every leg here and now, and records nothing: the leases may be in other hands. */
  lose(): void {
    for (const { supervision } of this.#executing.values()) supervision.lose();
  }

  /** Gives the legs under way some time to end by themselves, then ends their runs. */
  async stop(graceMs: number): Promise<void> {
    const executing = () => Array.from(this.#executing.values());
    const ended = Promise.all(executing().map((item) => item.ended));
    await atMost(graceMs, ended, this.#services.clock);
    await Promise.all(executing().map((item) => item.supervision.abandon()));
  }

  /**
   * The run counts as executing, and its supervision listens, before the claim: so neither recovery nor a
   * cancel that follows the claim can slip in between.
   */
  async #claim(run: ReadyRun): Promise<void> {
    const { clock, settings } = this.#services;
    const { owner, holdsLeases, onFree } = this.#options;
    const supervision = supervise(this.#services, run.id, holdsLeases);
    const claimed = Promise.withResolvers<void>();
    this.#executing.set(run.id, { supervision, ended: claimed.promise });
    try {
      const address = { scope: run, sessionId: run.sessionId, runId: run.id };
      const lease = { owner, expiresAt: clock.now() + settings.leaseMs };
      const leg = await claimLeg(this.#services, address, lease);
      if (leg === 'busy') clock.after(busyMs, onFree);
      if (typeof leg === 'string') return this.#leave(run.id, supervision);
      const ended = supervision.execute(leg).finally(() => {
        this.#executing.delete(run.id);
        onFree();
      });
      this.#executing.set(run.id, { supervision, ended });
    } catch (error) {
      this.#leave(run.id, supervision);
      throw error;
    } finally {
      claimed.resolve();
    }
  }

  #leave(runId: RunId, supervision: Supervision): void {
    this.#executing.delete(runId);
    supervision.leave();
  }
}

async function atMost(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  const patience = Promise.withResolvers<void>();
  const forget = clock.after(ms, patience.resolve);
  await Promise.race([work, patience.promise]);
  forget();
}
