import type { SessionId } from '@convoke/contract';
import { needsTenantCount } from '../../domain/run/inline-start.ts';
import type { QueuedRun } from '../../domain/run/run.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import { newSessionState } from '../../ports/repositories/runs/sessions.ts';
import type { LegOrigin, Slot } from '../../ports/run-slots.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { inBackground } from '../../runtime/in-background.ts';
import type { Services } from '../services.ts';

type SlotServices = Pick<Services, 'slots' | 'isSingleServer' | 'settings'>;

/**
 * The slot of a run that may start inline, and what the transaction has read for it. Its transaction calls `reset` when
 * it begins, the two reads beside its other statements, then `reserve`; and `giveUp` follows when it has failed.
 */
export class InlineSlot {
  readonly #services: SlotServices;
  #slot: Slot | undefined;
  #isTenantBelowHalf: boolean | undefined;
  #state = newSessionState;

  constructor(services: SlotServices) {
    this.#services = services;
  }

  /**
   * Counts the runs of the tenant, where other servers execute some. Issued with other statements, it costs no round
   * trip.
   */
  async readShare(tx: StoreTransaction, { tenantId }: TenantScope): Promise<void> {
    const { slots, settings } = this.#services;
    if (slots === undefined || !needsTenantCount(this.#services)) return;
    this.#isTenantBelowHalf = await tx.runs.hasHalfFree(tenantId, settings.tenantRunConcurrency);
  }

  /** Reads what the run would start from. Costs no round trip, either. */
  async readState(tx: StoreTransaction, id: SessionId): Promise<void> {
    if (this.#services.slots !== undefined) this.#state = await tx.sessions.state(id);
  }

  /** A transaction that is repeated may need no slot, so it frees that of the attempt before. */
  reset(): void {
    this.#slot?.release();
    this.#slot = undefined;
  }

  /** The slot with what the run starts from in it; undefined if a worker has to claim the run. */
  reserve(run: QueuedRun): { readonly slot: Slot; readonly origin: LegOrigin } | undefined {
    const state = this.#state;
    const isTenantBelowHalf = this.#isTenantBelowHalf;
    const slot = this.#services.slots?.reserve(run, { state, isTenantBelowHalf });
    this.#slot = slot;
    return slot && { slot, origin: { input: { kind: 'prompt' }, state, isElsewhere: false } };
  }

  /** Only a read shows whether a commit with a lost answer was kept. */
  giveUp(error: unknown): void {
    if (error instanceof StorageUnavailable && this.#slot) inBackground(this.#slot.recall());
    else this.#slot?.release();
    this.#slot = undefined;
  }
}
