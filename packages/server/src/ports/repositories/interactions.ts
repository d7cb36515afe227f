import type { InteractionKey, InteractionStatus, RunId, SessionId } from '@convoke/contract';
import type { PageRequest } from '../page.ts';
import type { Interaction } from '../../domain/interaction.ts';
import type { TenantScope } from '../../domain/scope.ts';

export interface InteractionRepository {
  insert(interaction: Interaction): Promise<void>;
  find(
    scope: TenantScope,
    sessionId: SessionId,
    key: InteractionKey,
  ): Promise<Interaction | undefined>;
  findByRequest(runId: RunId, requestId: string): Promise<Interaction | undefined>;
  /** False when it was no longer pending: then nothing changed. */
  settle(interaction: Interaction): Promise<boolean>;
  cancelPending(runId: RunId): Promise<number>;
  countPending(runId: RunId): Promise<number>;
  /** Answers no leg has acted on yet. */
  unapplied(runId: RunId): Promise<Interaction[]>;
  markApplied(runId: RunId, now: number): Promise<void>;
  /** Those that a leg took at this very time. */
  appliedAt(runId: RunId, at: number): Promise<Interaction[]>;
  list(
    scope: TenantScope,
    list: { sessionId: SessionId; status: InteractionStatus | 'all'; page: PageRequest },
  ): Promise<Interaction[]>;
  /** Pending ones whose time is over, oldest first. */
  overdue(now: number, limit: number): Promise<Interaction[]>;
}
