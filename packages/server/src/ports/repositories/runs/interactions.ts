import type {
  InteractionKey,
  InteractionStatus,
  RunId,
  SessionId,
  TenantId,
} from '@convoke/contract';
import type {
  AnsweredPermission,
  ClosedInteraction,
  Interaction,
  PendingInteraction,
  PendingPermission,
  SettledInteraction,
} from '../../../domain/interaction.ts';
import type { ApplicationActor } from '../../../domain/access.ts';
import type { Memory } from '../../../domain/rules/memory.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { CutPage, PageRequest } from '../../page.ts';

export interface InteractionList {
  readonly sessionId: SessionId;
  readonly status: InteractionStatus | 'all';
  /** Only allows that are remembered (D-521). */
  readonly isRemembered?: boolean | undefined;
  /** A pending interaction that expired before this time counts as `expired`. */
  readonly now: number;
  readonly page: PageRequest;
}

/** A pending question about an account that is connected by now. */
export interface AskedForConnected extends TenantScope {
  readonly sessionId: SessionId;
  readonly key: InteractionKey;
  readonly connectedBy: ApplicationActor;
}

interface NamedCall {
  readonly ref: string;
  readonly toolName: string;
}

interface RememberingSession {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
}

export interface InteractionRepository {
  insert(interaction: PendingInteraction | AnsweredPermission): Promise<void>;
  find(
    scope: TenantScope,
    sessionId: SessionId,
    key: InteractionKey,
  ): Promise<Interaction | undefined>;
  findByRequest(runId: RunId, requestId: string): Promise<Interaction | undefined>;
  /** Those that were raised under one of these. */
  ofRequests(runId: RunId, requestIds: readonly string[]): Promise<Interaction[]>;
  /** Writes the answer or the end of a pending interaction; false, and no change, when it is not pending. */
  settle(interaction: SettledInteraction | ClosedInteraction): Promise<boolean>;
  /** Writes who has allowed a pending permission; false, and no change, when it is not pending. */
  saveApprovals(interaction: PendingPermission): Promise<boolean>;
  /** Questions about accounts that are connected by now, of all tenants, the oldest first (D-608). */
  askedForConnected(limit: number): Promise<AskedForConnected[]>;
  /** Returns those that were pending. */
  cancelPending(runId: RunId): Promise<ClosedInteraction[]>;
  countPending(runId: RunId): Promise<number>;
  /** The oldest of them. */
  pending(runId: RunId, limit: number): Promise<PendingInteraction[]>;
  /** Settled interactions that no leg has acted on yet. */
  unapplied(runId: RunId): Promise<SettledInteraction[]>;
  /** Every one of the run that was answered, or denied because its time was over (D-522), in that order. */
  answered(runId: RunId): Promise<SettledInteraction[]>;
  /** Answers of the run about these tools that people gave, without allows that calls with other refs have used. */
  usable(runId: RunId, calls: readonly NamedCall[]): Promise<SettledInteraction[]>;
  /** Uses the allow up for this call (D-519). False: another call has used it. */
  spend(key: InteractionKey, ref: string): Promise<boolean>;
  /** The allows of these tools that the session remembers. */
  memories(of: RememberingSession & { readonly toolNames: readonly string[] }): Promise<Memory[]>;
  countMemories(of: RememberingSession): Promise<number>;
  /** False, and no change, where nothing is remembered. */
  forget(interaction: Pick<Interaction, 'key' | 'tenantId'>): Promise<boolean>;
  markApplied(runId: RunId, now: number): Promise<void>;
  list(scope: TenantScope, list: InteractionList): Promise<CutPage<Interaction>>;
  /** Pending interactions that have expired, oldest first. */
  overdue(now: number, of: Overdue, limit: number): Promise<PendingInteraction[]>;
}

/** Of runs that are not executing, nor to be executed; or the requests about tools of those that are. */
export type Overdue = 'parked' | 'awake';
