import type { SessionId } from '@convoke/contract';
import type { QueuedRun } from '../../domain/run/run.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import { newSessionState } from '../../ports/repositories/sessions.ts';
import type { Slot } from '../../ports/run-slots.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { Services } from '../services.ts';

/** The slot of a run that is being started, or is the next of its session, if it gets one. */
export class StartSlot {
  readonly #services: Pick<Services, 'slots' | 'fanout' | 'settings'>;
  #slot: Slot | undefined;
  #isAllowed: boolean;
  #state = newSessionState;

  constructor(services: Pick<Services, 'slots' | 'fanout' | 'settings'>) {
    this.#services = services;
    this.#isAllowed = this.#isAlone;
  }

  /**
   * Reads whether the tenant's share leaves room for the run: in a cluster, other servers use it, too. Issued with other
   * statements, it costs no round trip.
   */
  async readShare(tx: StoreTransaction, { tenantId }: TenantScope): Promise<void> {
    if (this.#isAlone || this.#services.slots === undefined) return;
    const perTenant = this.#services.settings.tenantRunConcurrency;
    this.#isAllowed = await tx.runs.hasHalfFree(tenantId, perTenant);
  }

  /** Reads what the run would start from. Costs no round trip, either. */
  async readState(tx: StoreTransaction, id: SessionId): Promise<void> {
    if (this.#services.slots !== undefined) this.#state = await tx.sessions.state(id);
  }

  /** Call it when the transaction begins: one that is repeated may need no slot, so it frees that of the attempt before. */
  begin(): void {
    this.#slot?.release();
    this.#slot = undefined;
  }

  reserve(run: QueuedRun): Slot | undefined {
    if (this.#isAllowed) this.#slot = this.#services.slots?.reserve(run, this.#state);
    return this.#slot;
  }

  /** Call it when the transaction has failed: only a read shows whether a commit with a lost answer was kept. */
  giveUp(error: unknown): void {
    if (error instanceof StorageUnavailable) this.#slot?.recall();
    else this.#slot?.release();
    this.#slot = undefined;
  }

  /** No other server takes runs, and this one counts its own. */
  get #isAlone(): boolean {
    return this.#services.fanout.lossless;
  }
}
