import type {
  Decision,
  InteractionKey,
  InteractionKind,
  InteractionStatus,
  RunId,
  SessionId,
} from '@convoke/contract';
import type { Interaction, QuestionAbout } from '../../../domain/interaction.ts';
import type { Approval } from '../../../domain/rules/approvers.ts';
import type { AskingRule } from '../../../domain/rules/decide.ts';
import type { RunListFilter, RunSummary, RunWalk } from '../../../domain/run/run-summary.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { CutPage, PageRequest } from '../../page.ts';

/** Reads over all sessions of a tenant. Each visits one index in order, so its cost depends on its limit only. */
export interface TenantListRepository {
  /**
   * The next runs of a walk that may match the filter: all that do are among them. `from` and `until` bound the ids,
   * and `upTo` is the last row to look at.
   */
  runs(scope: TenantScope, walk: RunWalk, wanted: WantedRuns): Promise<RunSummary[]>;
  /** The id of the last of the next `limit` rows of a walk, whatever they are; undefined when there are fewer. */
  lastOf(scope: TenantScope, walk: RunWalk, range: RunRange): Promise<string | undefined>;
  /** The next interactions, all or only those stored as pending, without their content. */
  interactions(
    scope: TenantScope,
    which: 'all' | 'pending',
    page: PageRequest,
  ): Promise<ListedInteraction[]>;
  /** What these interactions ask, up to the bytes of a page. */
  topics(
    scope: TenantScope,
    keys: readonly InteractionKey[],
    order: PageRequest['order'],
  ): Promise<CutPage<InteractionTopic>>;
  interaction(scope: TenantScope, key: InteractionKey): Promise<InteractionInTenant | undefined>;
  /** The agents of these runs. */
  agentsOf(scope: TenantScope, runs: readonly RunId[]): Promise<ReadonlyMap<RunId, string>>;
  /** Counts of open work, each up to `most`. */
  overview(scope: TenantScope, bounds: { most: number; now: number }): Promise<TenantOverview>;
}

export interface RunRange extends PageRequest {
  /** Ids at or after this text. */
  readonly from?: string | undefined;
  /** Ids before this text. */
  readonly until?: string | undefined;
}

export interface WantedRuns extends RunRange {
  readonly upTo?: string | undefined;
  readonly filter: RunListFilter;
}

/** An interaction with the fields of its run that a list shows. */
export interface InteractionInTenant {
  readonly interaction: Interaction;
  readonly run: RunOfInteraction;
}

type RunOfInteraction = Pick<
  RunSummary,
  'agentName' | 'labels' | 'preview' | 'createdBy' | 'ancestors'
>;

/** The fields of an interaction without its content, which may be large. */
export interface ListedInteraction {
  readonly key: InteractionKey;
  readonly kind: InteractionKind;
  readonly status: InteractionStatus;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly createdAt: number;
  readonly answeredAt: number | null;
  readonly expiresAt: number;
  readonly asked: readonly AskingRule[];
  readonly approvals: readonly Approval[];
  readonly run: RunOfInteraction;
}

/** The part of an interaction's content that a list shows. */
export interface InteractionTopic {
  readonly key: InteractionKey;
  readonly toolName: string | null;
  readonly toolInputPreview: string | null;
  /** In one line, and shortened. */
  readonly question: string | null;
  readonly about: QuestionAbout | null;
  /** Of a permission that was answered. */
  readonly decision: Decision | null;
  readonly answeredBy: string | null;
}

export interface TenantOverview {
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  readonly cancelling: number;
  readonly pendingInteractions: number;
  readonly oldestPendingAt: number | null;
  readonly oldestQueuedAt: number | null;
}
