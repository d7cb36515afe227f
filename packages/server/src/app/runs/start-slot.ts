import type { SessionId } from '@convoke/contract';
import type { QueuedRun } from '../../domain/run/run.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import type { CheckpointMaker } from '../../ports/repositories/sessions.ts';
import type { Slot } from '../../ports/run-slots.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { Services } from '../services.ts';

/** The slot of a run that is being started, if it gets one. */
export class StartSlot {
  readonly #services: Pick<Services, 'slots' | 'fanout' | 'settings'>;
  #slot: Slot | undefined;
  #isAllowed: boolean;
  #made: CheckpointMaker | null = null;

  constructor(services: Pick<Services, 'slots' | 'fanout' | 'settings'>) {
    this.#services = services;
    this.#isAllowed = this.#isAlone;
  }

  /**
   * Reads what decides in a cluster whether this server may begin the run: the tenant's share, which other servers use,
   * too, and who made the last checkpoint of the session, which may be a newer release. Issued with other statements, it
   * costs no round trip.
   */
  async look(
    tx: StoreTransaction,
    { scope, sessionId }: { readonly scope: TenantScope; readonly sessionId?: SessionId },
  ): Promise<void> {
    if (this.#isAlone || this.#services.slots === undefined) return;
    const perTenant = this.#services.settings.tenantRunConcurrency;
    const [isAllowed, made] = await Promise.all([
      tx.runs.hasHalfFree(scope.tenantId, perTenant),
      sessionId === undefined ? null : tx.sessions.checkpointMaker(sessionId),
    ]);
    this.#isAllowed = isAllowed;
    this.#made = made;
  }

  /** The transaction may be retried: this releases the slot of the attempt before. */
  reserve(run: QueuedRun): Slot | undefined {
    this.#release();
    if (this.#isAllowed) this.#slot = this.#services.slots?.reserve(run, this.#made);
    return this.#slot;
  }

  /** Call it when the transaction has failed: only a read shows whether a commit with a lost answer was kept. */
  giveUp(error: unknown): void {
    if (error instanceof StorageUnavailable) this.#slot?.recall();
    else this.#release();
    this.#slot = undefined;
  }

  #release(): void {
    this.#slot?.release();
    this.#slot = undefined;
  }

  /** No other server takes runs, and this one counts its own. */
  get #isAlone(): boolean {
    return this.#services.fanout.lossless;
  }
}
