import type { RunId, SessionId, SessionStatus } from '@convoke/contract';
import type { FolderState, SnapshotOwner } from '../../../domain/folder-snapshot.ts';
import type { Label } from '../../../domain/labels.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { Session } from '../../../domain/session.ts';
import type { PageRequest } from '../../page.ts';

export interface SessionRepository {
  insert(session: Session): void;
  find(scope: TenantScope, id: SessionId): Promise<Session | undefined>;
  /** Locks the row until the transaction ends. Always locked before any row of its runs. */
  lock(scope: TenantScope, id: SessionId): Promise<Session | undefined>;
  /** Non-blocking variant (SKIP LOCKED): undefined also while another transaction holds the lock. */
  tryLock(scope: TenantScope, id: SessionId): Promise<Session | undefined>;
  save(session: Session): void;
  /** Writes title and labels only. */
  saveNames(session: Session): Promise<void>;
  list(scope: TenantScope, filter: SessionFilter, page: PageRequest): Promise<Session[]>;
  /**
   * The id of the last of the next `limit` sessions with the label, whatever else they are; undefined when there are
   * fewer.
   */
  lastLabelled(scope: TenantScope, label: Label, page: PageRequest): Promise<string | undefined>;
  /** Sessions that have not changed since `before`, oldest first. */
  unusedSince(before: number, limit: number): Promise<Session[]>;
  /** The sessions of these that accept another run without a resume. */
  usable(ids: readonly SessionId[]): Promise<SessionId[]>;
  state(id: SessionId): Promise<SessionState>;
  saveCheckpoint(id: SessionId, checkpoint: SavedCheckpoint): void;
  /** Also writes `snapshot`, if given. */
  saveContext(id: SessionId, context: string, snapshot?: FolderState): void;
  /** State of the session folder; null when none was recorded. */
  snapshot(id: SessionId): Promise<FolderState | null>;
  /** Sessions that ended before a time and still have a state of their folder. */
  endedWithSnapshot(before: number, limit: number): Promise<EndedSnapshot[]>;
  /** False when the session has another state by now. */
  forgetSnapshot(id: SessionId, seen: FolderState): Promise<boolean>;
  /** Those of the given sessions that ended before a time. */
  endedBefore(ids: readonly SessionId[], before: number): Promise<SessionId[]>;
  saveSnapshot(id: SessionId, snapshot: FolderState): void;
}

export interface SessionFilter {
  readonly status?: SessionStatus | undefined;
  readonly agentName?: string | undefined;
  /** All of them. */
  readonly labels?: readonly Label[] | undefined;
  /** The last session to look at. */
  readonly upTo?: string | undefined;
  /** Sessions at rest since before this time count as `terminated` (D-17). */
  readonly expiredBefore?: number | undefined;
}

export interface SessionState {
  /** The harness's last checkpoint, as JSON text. */
  readonly checkpoint: string | null;
  /** Digests of the context files the session has announced, as JSON text. */
  readonly context: string | null;
  /** State of the session folder, where several machines execute runs. */
  readonly snapshot: FolderState | null;
  /** Null when no run can continue from the checkpoint after a loss. */
  readonly point: SavedPoint | null;
  /** The framework and version that made the checkpoint; null if an older release wrote it. */
  readonly made: CheckpointMaker | null;
}

/** The state of a session that has had no run. */
export const newSessionState: SessionState = {
  checkpoint: null,
  context: null,
  snapshot: null,
  point: null,
  made: null,
};

/** A checkpoint as JSON text. `point` is set when a leg of that run can continue from it. */
export interface SavedCheckpoint extends CheckpointMaker {
  readonly text: string;
  readonly point?: SavedPoint | undefined;
}

/** What wrote a checkpoint, so that no older server reads it (D-99). */
export interface CheckpointMaker {
  /** Number of the checkpoint's format; it rises when servers of the release before cannot read it. */
  readonly format: number;
  /** Digest of the agent. */
  readonly agent: string;
}

/** The run whose recovery point a checkpoint is, and the last event that it covers. */
export interface SavedPoint {
  readonly runId: RunId;
  readonly seq: number;
}

export interface EndedSnapshot extends SnapshotOwner {
  readonly snapshot: FolderState;
}
