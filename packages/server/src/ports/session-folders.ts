import type { FileId, SessionId, TenantId } from '@convoke/contract';
import type { Agent } from '../domain/agent.ts';
import type { ContextTexts, LoadedContext } from '../domain/context.ts';
import type { FolderState } from '../domain/folder-snapshot.ts';

/** Each session's own folder on disk and its own HOME. */
export interface SessionFolders {
  /**
   * Makes the folder ready for a leg: seeds it on first use, mirrors skills, places the session's
   * ready files under `files/` (and removes deleted ones), reads context files.
   */
  prepare(request: PrepareFolder): Promise<PreparedFolder>;
  /**
   * Offers what is new or changed below `outputs/`. What is taken becomes a file of the session, and is
   * neither offered again unless it changes nor placed under `files/`.
   */
  takeOutputs(place: FolderOwner, take: TakeOutput): Promise<void>;
  /** What a leg changed in the workspace; undefined when nothing, and always where one machine has all of them. */
  changes(place: FolderOwner): Promise<FolderChanges | undefined>;
  remove(tenantId: TenantId, sessionId: SessionId): Promise<void>;
}

export interface FolderChanges {
  /** The state that the folder was at before. */
  readonly before: FolderState | null;
  /** Why it cannot be archived, if it cannot. */
  readonly problem?: 'too_large' | 'not_stored' | undefined;
  /** The whole workspace, as `prepare` restores it. `leg` tells one archive from every other. */
  archive(leg: string): AsyncIterable<Uint8Array>;
  /** The folder is at this state now. */
  settle(state: FolderState): Promise<void>;
}

export interface FolderOwner {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
}

/** `undefined` when it is not taken, so that it is offered again. */
export type TakeOutput = (output: Output) => Promise<FileId | undefined>;

export interface Output {
  /** Below `outputs/`. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface PrepareFolder {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly agent: Agent;
  /** Whether an earlier leg prepared this folder: only if none did may it be missing. */
  readonly expected: boolean;
  readonly files: readonly AttachedFile[];
  /** What the session's folder has to hold, where several machines execute its runs. */
  readonly saved?: SavedFolder;
}

export interface SavedFolder {
  readonly state: FolderState | null;
  /** Undefined when nothing that could be fetched holds that state. */
  open(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export interface AttachedFile {
  readonly id: FileId;
  readonly name: string;
  readonly sha256: string;
  /** Undefined when it was deleted meanwhile: then there is nothing to place. */
  open(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export type PreparedFolder =
  /**
   * `claudeMd` is absent unless the agent sets `enable_claude_md` and has the file; `skills` when it has no
   * `skills/` or asks for none.
   */
  | (LoadedContext & {
      readonly found: true;
      readonly texts: ContextTexts;
      readonly sessionFolder: string;
      readonly stateDir: string;
      /** The state of a folder that was made just now, where sessions go from machine to machine. */
      readonly startsAs?: FolderState;
    })
  /** The session ran before and its folder is gone: its promise (D-14) cannot be kept any more. */
  | { readonly found: false };
