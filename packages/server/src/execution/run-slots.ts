import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunId } from '@convoke/contract';
import { mayStartInline } from '../domain/run/inline-start.ts';
import { type QueuedRun, type Run, isSuspect } from '../domain/run/run.ts';
import type { BegunLeg, RunSlots, SeenByTransaction, Slot } from '../ports/run-slots.ts';
import { inBackground } from '../runtime/in-background.ts';
import { within } from '../runtime/within.ts';
import { canRead, checkpointMaker } from './checkpoint-maker.ts';
import { type ClaimedLeg, claimedLeg, recallLeg } from './claim-leg.ts';
import { ExecutingRuns } from './executing-runs.ts';
import { LegSupervisor } from './leg-supervisor.ts';
import { retryStorage } from '../runtime/retry-storage.ts';
import type { ExecutionServices } from './services.ts';

export interface SlotOptions {
  /** Name under which this process signs its leases. */
  readonly owner: string;
  /** Name of the machine whose data folder this process uses. */
  readonly machine: string;
  /** Whether this process may still act under its leases. */
  readonly holdsLeases: () => boolean;
  /** Called when a slot is free again and a ready run may wait for it. */
  readonly onFree: () => void;
}

/** The load that a drain waits for: executing legs, and their calls in flight. */
export interface Load {
  readonly legs: number;
  readonly inFlight: number;
}

type SlotUser = Pick<Run, 'id' | 'tenantId' | 'losses'>;

/**
 * The slots in which this server executes runs, up to its limits for all runs and for those of a tenant.
 *
 * `mayRunsWait` is false only while every ready run that the last pass of the dispatcher found has a slot, and no run
 * was refused one since. A run that becomes ready later wakes the pass on its own. So while it is false, no run waits
 * for a slot that becomes free: it needs no pass, and a run may start inline in the last one. The pass sets it to true
 * before its query, because a run that the query does not return may want a slot that becomes free in the meantime.
 */
export class ServerSlots implements RunSlots {
  readonly #services: ExecutionServices;
  readonly #options: SlotOptions;
  readonly #executing = new ExecutingRuns();
  /** Runs legs outside the request's AsyncLocalStorage context (tenant scope, trace). */
  readonly #outsideRequest = AsyncLocalStorage.snapshot();
  #isAccepting = false;
  #mayRunsWait = true;

  constructor(services: ExecutionServices, options: SlotOptions) {
    // The end of a leg may begin the next run of its session, in one of these slots.
    this.#services = { ...services, slots: this };
    this.#options = options;
  }

  /** Lets runs start inline from here on. */
  accept(): void {
    this.#isAccepting = true;
  }

  /** Asks the executing legs to hand their runs over or to end within `graceMs`, then cuts the rest (D-85, D-86). */
  async drain(graceMs: number): Promise<void> {
    this.#isAccepting = false;
    for (const supervisor of this.supervisors()) supervisor.yield();
    const ended = Promise.all(this.#executing.all().map(([, item]) => item.ended));
    await within({ clock: this.#services.clock, ms: graceMs, late: undefined }, ended);
    await Promise.all(this.supervisors().map((supervisor) => supervisor.cut()));
  }

  get free(): number {
    return this.#services.settings.runConcurrency - this.#executing.size;
  }

  get load(): Load {
    const legs = this.supervisors();
    return { legs: legs.length, inFlight: legs.reduce((sum, leg) => sum + leg.callsInFlight, 0) };
  }

  isExecuting(runId: RunId): boolean {
    return this.#executing.has(runId);
  }

  supervisors(): readonly LegSupervisor[] {
    return this.#executing.all().map(([, { supervisor }]) => supervisor);
  }

  noteWaiting(): void {
    this.#mayRunsWait = true;
  }

  noteNoneWaiting(): void {
    this.#mayRunsWait = false;
  }

  /** Whether a worker may claim the run now. */
  hasRoomFor(run: SlotUser): boolean {
    const { runConcurrency, tenantRunConcurrency } = this.#services.settings;
    return (
      !this.#executing.has(run.id) &&
      // One suspect at a time: if it ends the server, few other runs are lost (D-90).
      !(isSuspect(run) && this.#executing.hasSuspect) &&
      this.#executing.size < runConcurrency &&
      this.#executing.ofTenant(run.tenantId) < tenantRunConcurrency
    );
  }

  /** Opens a slot for a run that a worker claims. The pass that claims it looks itself at what a release leaves. */
  open(run: SlotUser): Slot {
    return this.#open(run, () => {});
  }

  reserve(run: QueuedRun, { state, isTenantBelowHalf }: SeenByTransaction): Slot | undefined {
    const { settings, agents, isSingleServer } = this.#services;
    const maker = checkpointMaker(this.#services, agents.find(run.agentName));
    const canExecute =
      this.#isAccepting &&
      this.#options.holdsLeases() &&
      // Also while it is not known whether an earlier start of it is stored.
      !this.#executing.has(run.id) &&
      canRead(maker, state);
    const server = { used: this.#executing.size, limit: settings.runConcurrency };
    const used = this.#executing.ofTenant(run.tenantId);
    const tenant = { used, limit: settings.tenantRunConcurrency };
    const mayRunsWait = this.#mayRunsWait;
    const known = { canExecute, isSingleServer, mayRunsWait, server, tenant, isTenantBelowHalf };
    if (!mayStartInline(known)) {
      this.#mayRunsWait = true;
      return undefined;
    }
    return this.#outsideRequest(() => this.#open(run, () => this.#onFree()));
  }

  #onFree(): void {
    if (this.#mayRunsWait) this.#options.onFree();
  }

  /**
   * Counts the run as executing, and has its supervisor listen, before it is stored: so neither recovery nor a cancel
   * right after the commit can slip in between.
   */
  #open(run: SlotUser, onRelease: () => void): Slot {
    const { clock, settings } = this.#services;
    const { owner, machine, holdsLeases } = this.#options;
    const supervisor = new LegSupervisor(this.#services, run.id, holdsLeases);
    const ended = Promise.withResolvers<void>();
    const executing = { tenantId: run.tenantId, supervisor, ended: ended.promise };
    this.#executing.add(run.id, { ...executing, isSuspect: isSuspect(run) });
    let begun: BegunLeg | undefined;
    let isStarted = false;
    const free = () => {
      this.#executing.remove(run.id);
      ended.resolve();
    };
    const execute = (leg: ClaimedLeg) => {
      isStarted = true;
      begun = undefined;
      inBackground(
        supervisor.execute(leg).finally(() => {
          free();
          this.#onFree();
        }),
      );
    };
    const release = () => {
      free();
      supervisor.close();
    };
    return {
      lease: { owner, machine, expiresAt: clock.now() + settings.leaseMs },
      begin: (leg) => {
        begun = leg;
      },
      start: () => {
        if (begun !== undefined) this.#outsideRequest(execute, claimedLeg(begun));
      },
      release: () => {
        release();
        onRelease();
      },
      recall: () =>
        this.#outsideRequest(async () => {
          // The answer was lost behind the commit: its effects have been carried out.
          if (isStarted) return true;
          const leg = begun && (await this.#recall(begun));
          if (leg !== undefined) {
            execute(leg);
            return true;
          }
          release();
          this.#onFree();
          return false;
        }),
    };
  }

  /** Never rejects: a run that cannot be looked up is left to recovery. */
  async #recall(leg: BegunLeg): Promise<ClaimedLeg | undefined> {
    const { clock, log } = this.#services;
    const policy = { clock, shouldRetry: this.#options.holdsLeases };
    try {
      return await retryStorage(policy, () => recallLeg(this.#services, leg));
    } catch (error) {
      const about = { run_id: leg.run.id };
      log.error('a run whose start was not acknowledged could not be looked up', error, about);
      return undefined;
    }
  }
}
