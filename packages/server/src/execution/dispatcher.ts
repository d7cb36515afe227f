import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunId, TenantId } from '@convoke/contract';
import type { RunAddress } from '../app/record.ts';
import { type LeaseGrant, type QueuedRun, type Run, isSuspect } from '../domain/run/run.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { ReadyRun } from '../ports/repositories/runs.ts';
import type { SessionState } from '../ports/repositories/sessions.ts';
import type { RunSlots, Slot } from '../ports/run-slots.ts';
import { inBackground } from '../runtime/in-background.ts';
import { within } from '../runtime/within.ts';
import { canRead, checkpointMaker } from './checkpoint-maker.ts';
import {
  type Claim,
  type ClaimedLeg,
  type Unclaimed,
  claimLeg,
  recallClaim,
  recallStart,
} from './claim-leg.ts';
import { ExecutingRuns } from './executing-runs.ts';
import { LegSupervisor } from './leg-supervisor.ts';
import { retryStorage } from './retry-storage.ts';
import type { ExecutionServices } from './services.ts';

const claimsPerPass = 64;
const tenantsPerPass = 64;
/** Pause before the next try for a run whose session another transaction had locked. */
const busyMs = 20;

export interface DispatcherOptions {
  /** Name under which this process signs its leases. */
  readonly owner: string;
  /** Name of the machine whose data folder this process uses. */
  readonly machine: string;
  /** Whether this process may still act under its leases. */
  readonly holdsLeases: () => boolean;
  /** Called when a slot is free again, or a run may be ready. */
  readonly onFree: () => void;
}

/** What a drain waits for: executing legs, and their calls that have begun and not ended. */
export interface Load {
  readonly legs: number;
  readonly inFlight: number;
}

/** Claims ready runs and executes them in the run slots of this process. */
export class Dispatcher implements RunSlots {
  readonly #services: ExecutionServices;
  readonly #options: DispatcherOptions;
  readonly #executing = new ExecutingRuns();
  /** Runs legs outside the request's AsyncLocalStorage context (tenant scope, trace). */
  readonly #outsideRequest = AsyncLocalStorage.snapshot();
  #isAccepting = false;
  /** With many waiting tenants a round takes several passes: each tenant has a turn before any has a second. */
  #round: Round = { after: undefined, isCut: false, hasLeft: false };
  /** Whether a ready run may wait for a slot to become free; one that becomes ready wakes the pass on its own. */
  #mayWait = true;

  constructor(services: ExecutionServices, options: DispatcherOptions) {
    // A leg that ends may begin the next run of its session.
    this.#services = { ...services, slots: this };
    this.#options = options;
  }

  /** Accepts runs from here on. */
  start(): void {
    this.#isAccepting = true;
  }

  /** Asks the executing legs to hand their runs over or to end within `graceMs`, then cuts the rest (D-85, D-86). */
  async stop(graceMs: number): Promise<void> {
    this.#isAccepting = false;
    for (const [, { supervisor }] of this.#executing.all()) supervisor.yield();
    const ended = Promise.all(this.#executing.all().map(([, item]) => item.ended));
    await within({ clock: this.#services.clock, ms: graceMs, late: undefined }, ended);
    await Promise.all(this.#executing.all().map(([, item]) => item.supervisor.cut()));
  }

  get load(): Load {
    const legs = this.#executing.all();
    const inFlight = legs.reduce((sum, [, { supervisor }]) => sum + supervisor.callsInFlight, 0);
    return { legs: legs.length, inFlight };
  }

  isExecuting(runId: RunId): boolean {
    return this.#executing.has(runId);
  }

  /** A pass: claims ready runs, up to the free slots, and starts them. */
  async dispatchRuns(): Promise<boolean> {
    const { store, clock, settings } = this.#services;
    // Also for a slot that becomes free during the pass.
    this.#mayWait = true;
    const free = settings.runConcurrency - this.#executing.size;
    if (free <= 0 || !this.#options.holdsLeases()) return false;
    const limit = Math.min(free, claimsPerPass);
    const { runs, next, hasLeft } = await store.read.runs.claimable({
      limit,
      now: clock.now(),
      machine: this.#options.machine,
      perTenant: settings.tenantRunConcurrency,
      tenants: tenantsPerPass,
      after: this.#round.after,
    });
    // Runs may have started inline since the free slots were counted.
    const claims = runs.flatMap((run) => (this.#hasFreeSlot(run) ? [this.#claim(run)] : []));
    // Those that are being claimed have their slots.
    this.#mayWait = next !== undefined || hasLeft || claims.length < runs.length;
    const started = (await Promise.all(claims)).filter((isStarted) => isStarted).length;
    const soFar = this.#round.after === undefined ? undefined : this.#round;
    // A page of runs that this server has to leave alone must not make it read the same page on and on.
    const isCut = (runs.length === limit && started > 0) || soFar?.isCut === true;
    this.#round = {
      after: next,
      isCut,
      hasLeft: hasLeft || started < runs.length || soFar?.hasLeft === true,
    };
    // Also a run that found no slot during the pass may wait.
    this.#mayWait ||= this.#round.hasLeft;
    return next !== undefined || isCut;
  }

  /** A pass: checks the control state of the executing runs, in case a wake-up was lost. */
  async checkControl(): Promise<boolean> {
    if (this.#executing.size === 0) return false;
    const held = await this.#services.store.read.runs.leasedBy(this.#options.owner);
    const quiet = new Set(held.filter(({ status }) => status === 'running').map(({ id }) => id));
    for (const [runId, { supervisor }] of this.#executing.all()) {
      if (!quiet.has(runId)) supervisor.checkControl();
    }
    return false;
  }

  /** A pass: once the leases are lost, ends every leg and records nothing, for another server may own the runs. */
  async abandonLostRuns(): Promise<boolean> {
    if (this.#options.holdsLeases()) return false;
    for (const [, { supervisor }] of this.#executing.all()) supervisor.lose();
    return false;
  }

  /**
   * Starts a run inline where it overtakes no queued run: below 50 % of the limits, or below the limits while none waits,
   * which only the one process of a database can know. Counts this process only; in a cluster the caller has counted the
   * runs of the tenant in the database.
   */
  reserve(run: QueuedRun, state: SessionState): Slot | undefined {
    if (!this.#isAccepting || !this.#options.holdsLeases()) return undefined;
    const share = this.#services.fanout.lossless && !this.#mayWait ? 1 : 0.5;
    if (!this.#hasFreeSlot(run, { share })) {
      this.#mayWait = true;
      return undefined;
    }
    const maker = checkpointMaker(this.#services, this.#services.agents.find(run.agentName));
    if (!canRead(maker, state)) return undefined;
    return this.#outsideRequest(() => {
      const slot = this.#openSlot(run);
      const address = { scope: run, sessionId: run.sessionId, runId: run.id };
      return {
        lease: slot.lease,
        release: () => {
          slot.release();
          this.#onFree();
        },
        start: (claimed) => {
          const holder = { ...address, epoch: claimed.run.leaseEpoch };
          this.#outsideRequest(slot.start, {
            ...claimed,
            holder,
            input: { kind: 'prompt' },
            state,
            isElsewhere: false,
          });
        },
        recall: () => this.#outsideRequest(() => inBackground(this.#recall(address, slot))),
      };
    });
  }

  /** Never rejects: a run that cannot be looked up is left to recovery. */
  async #recall(address: RunAddress, { lease, start, release }: OpenSlot): Promise<void> {
    const { clock, log } = this.#services;
    const policy = { clock, shouldRetry: this.#options.holdsLeases };
    const claim = { lease, at: clock.now() };
    const leg = await retryStorage(policy, () => recallStart(this.#services, address, claim)).catch(
      (error: unknown) => {
        const about = { run_id: address.runId };
        log.error('a run whose start was not acknowledged could not be looked up', error, about);
        return 'gone' as const;
      },
    );
    if (typeof leg !== 'string') return start(leg);
    release();
    this.#onFree();
  }

  #onFree(): void {
    if (this.#mayWait) this.#options.onFree();
  }

  #hasFreeSlot(run: SlotUser, { share = 1 } = {}): boolean {
    const { id, tenantId } = run;
    const { runConcurrency, tenantRunConcurrency } = this.#services.settings;
    return (
      !this.#executing.has(id) &&
      // One suspect at a time (D-90): if it crashes the server, few other runs are lost.
      !(isSuspect(run) && this.#executing.hasSuspect) &&
      this.#executing.size < runConcurrency * share &&
      this.#executing.ofTenant(tenantId) < tenantRunConcurrency * share
    );
  }

  /** True when the run executes now. */
  async #claim(run: ReadyRun): Promise<boolean> {
    const { lease, start, release } = this.#openSlot(run);
    try {
      const leg = await this.#claimUnder(run, { lease, at: this.#services.clock.now() });
      if (leg === 'busy') this.#services.clock.after(busyMs, this.#options.onFree);
      if (typeof leg === 'string') release();
      else start(leg);
      return typeof leg !== 'string';
    } catch (error) {
      release();
      throw error;
    }
  }

  /** A claim whose answer was lost may have been committed: then this process must execute the run. */
  async #claimUnder(run: ReadyRun, claim: Claim): Promise<ClaimedLeg | Unclaimed> {
    const address = { scope: run, sessionId: run.sessionId, runId: run.id };
    try {
      return await claimLeg(this.#services, address, claim);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      const policy = { clock: this.#services.clock, shouldRetry: this.#options.holdsLeases };
      return retryStorage(policy, () => recallClaim(this.#services, address, claim));
    }
  }

  /**
   * Counts the run as executing, and has its supervisor listen, before the claim: so neither recovery nor a cancel
   * right after the claim can slip in between.
   */
  #openSlot(run: SlotUser): OpenSlot {
    const { clock, settings } = this.#services;
    const { owner, machine, holdsLeases } = this.#options;
    const supervisor = new LegSupervisor(this.#services, run.id, holdsLeases);
    const ended = Promise.withResolvers<void>();
    const executing = { tenantId: run.tenantId, supervisor, ended: ended.promise };
    this.#executing.add(run.id, { ...executing, isSuspect: isSuspect(run) });
    const free = () => {
      this.#executing.remove(run.id);
      ended.resolve();
    };
    return {
      lease: { owner, machine, expiresAt: clock.now() + settings.leaseMs },
      start: (leg) =>
        inBackground(
          supervisor.execute(leg).finally(() => {
            free();
            this.#onFree();
          }),
        ),
      release: () => {
        free();
        supervisor.close();
      },
    };
  }
}

interface Round {
  /** Where the next pass continues; undefined before a round. */
  readonly after: TenantId | undefined;
  /** Whether a page was full. */
  readonly isCut: boolean;
  /** Whether a ready run was left unclaimed. */
  readonly hasLeft: boolean;
}

type SlotUser = Pick<Run, 'id' | 'tenantId' | 'losses'>;

/** A slot in use; either `start` or `release` is called, once. */
interface OpenSlot {
  readonly lease: LeaseGrant;
  readonly start: (leg: ClaimedLeg) => void;
  readonly release: () => void;
}
