import type { TenantId } from '@convoke/contract';
import { StorageUnavailable } from '../ports/errors.ts';
import type { ReadyRun } from '../ports/repositories/runs/runs.ts';
import { claimLeg } from './claim-leg.ts';
import { ServerSlots, type SlotOptions } from './run-slots.ts';
import type { ExecutionServices } from './services.ts';

const claimsPerPass = 64;
const tenantsPerPass = 64;
/** Pause before the next try for a run whose session another transaction had locked. */
const busyMs = 20;

/** Claims ready runs for the run slots of this server, and watches over those that execute there. */
export class Dispatcher {
  readonly slots: ServerSlots;
  readonly #services: ExecutionServices;
  readonly #options: SlotOptions;
  /** With many waiting tenants a round takes several passes: each tenant has a turn before any has a second. */
  #round: Round = { after: undefined, isCut: false, hasLeft: false };

  constructor(services: ExecutionServices, options: SlotOptions) {
    this.#services = services;
    this.#options = options;
    this.slots = new ServerSlots(services, options);
  }

  /** A pass: claims ready runs, up to the free slots, and starts them. */
  async dispatchRuns(): Promise<boolean> {
    const { store, clock, settings } = this.#services;
    const { slots } = this;
    slots.noteWaiting();
    if (slots.free <= 0 || !this.#options.holdsLeases()) return false;
    const limit = Math.min(slots.free, claimsPerPass);
    const { runs, next, hasLeft } = await store.read.runs.claimable({
      limit,
      now: clock.now(),
      machine: this.#options.machine,
      perTenant: settings.tenantRunConcurrency,
      tenants: tenantsPerPass,
      after: this.#round.after,
    });
    // Runs may have started inline since the free slots were counted.
    const claims = runs.flatMap((run) => (slots.hasRoomFor(run) ? [this.#claim(run)] : []));
    // Those that are being claimed have their slots.
    const isAllServed = next === undefined && !hasLeft && claims.length === runs.length;
    if (isAllServed) slots.noteNoneWaiting();
    const started = (await Promise.all(claims)).filter((isStarted) => isStarted).length;
    const soFar = this.#round.after === undefined ? undefined : this.#round;
    // A page of runs that this server has to leave alone must not make it read the same page on and on.
    const isCut = (runs.length === limit && started > 0) || soFar?.isCut === true;
    this.#round = {
      after: next,
      isCut,
      hasLeft: hasLeft || started < runs.length || soFar?.hasLeft === true,
    };
    if (this.#round.hasLeft) slots.noteWaiting();
    return next !== undefined || isCut;
  }

  /** A pass: checks the control state of the executing runs, in case a wake-up was lost. */
  async checkControl(): Promise<boolean> {
    if (this.slots.supervisors().length === 0) return false;
    const held = await this.#services.store.read.runs.leasedBy(this.#options.owner);
    const quiet = new Set(held.filter(({ status }) => status === 'running').map(({ id }) => id));
    for (const supervisor of this.slots.supervisors()) {
      if (!quiet.has(supervisor.runId)) supervisor.checkControl();
    }
    return false;
  }

  /** A pass: once the leases are lost, ends every leg and records nothing, for another server may own the runs. */
  async abandonLostRuns(): Promise<boolean> {
    if (this.#options.holdsLeases()) return false;
    for (const supervisor of this.slots.supervisors()) supervisor.lose();
    return false;
  }

  /** True when the run executes now. */
  async #claim(run: ReadyRun): Promise<boolean> {
    const slot = this.slots.open(run);
    const address = { scope: run, sessionId: run.sessionId, runId: run.id };
    try {
      const leg = await claimLeg(this.#services, address, slot);
      if (typeof leg !== 'string') return true;
      if (leg === 'busy') this.#services.clock.after(busyMs, this.#options.onFree);
    } catch (error) {
      if (error instanceof StorageUnavailable) return slot.recall();
      slot.release();
      throw error;
    }
    slot.release();
    return false;
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
