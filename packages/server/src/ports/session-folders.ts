import type { FileId, SessionId, TenantId } from '@convoke/contract';
import type { Agent } from '../domain/agent.ts';
import type { ContextTexts, LoadedContext } from '../domain/context.ts';
import type { FolderState } from '../domain/folder-snapshot.ts';

/** The folder and the HOME of each session on disk. */
export interface SessionFolders {
  /**
   * Makes the folder ready for a leg: seeds it on first use, mirrors skills, places the session's
   * ready files under `files/` (and removes deleted ones), reads context files.
   */
  prepare(request: PrepareFolder): Promise<PreparedFolder>;
  /**
   * Offers each new or changed file below `outputs/`. One that is taken becomes a file of the session: it is
   * not placed under `files/`, and offered again only if it changes.
   */
  takeOutputs(place: FolderOwner, take: TakeOutput): Promise<void>;
  /** Changes of a leg to the folder; undefined when there are none, and always on a single machine. */
  changes(place: FolderOwner): Promise<FolderChanges | undefined>;
  /** The folder as it is, to be archived; undefined on a single machine. */
  content(place: FolderOwner): Promise<FolderChanges | undefined>;
  /** Sessions of which this machine has a folder. */
  kept(): Promise<readonly FolderOwner[]>;
  remove(tenantId: TenantId, sessionId: SessionId): Promise<void>;
}

/** Why a session folder cannot be archived. */
export type FolderProblem = 'too_large' | 'unsupported_path' | 'not_stored';

export interface FolderChanges {
  /** State of the folder before the leg. */
  readonly before: FolderState | null;
  /** Size of all files of the folder. */
  readonly bytes: number;
  /** Why it cannot be archived, if it cannot. */
  readonly problem?: FolderProblem | undefined;
  /** Archive of the whole folder, as `prepare` restores it. `leg` makes the archive unique. */
  archive(leg: string): AsyncIterable<Uint8Array>;
  /**
   * Notes that the folder is at this state if the session's row names it. Called before that is committed, so that a
   * worker that dies in the meantime leaves a folder that the next leg on this machine uses as it is, whatever the row
   * names.
   */
  propose(state: FolderState): Promise<void>;
  /** Notes that the session's row names this state, for a leg that resumes. */
  settle(state: FolderState): Promise<void>;
}

export interface FolderOwner {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
}

/** Returns undefined when the output is not taken; then it is offered again. */
export type TakeOutput = (output: Output) => Promise<FileId | undefined>;

export interface Output {
  /** Path below `outputs/`. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface PrepareFolder {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly agent: Agent;
  /** True when an earlier leg prepared this folder, so it must exist. */
  readonly expected: boolean;
  readonly files: readonly AttachedFile[];
  /** State that the folder must have, where several machines execute runs. */
  readonly saved?: SavedFolder;
  /** Whether changes since that state are given up: the folder on this machine may have some (D-91). */
  readonly mustRestore?: boolean;
}

export interface SavedFolder {
  readonly state: FolderState | null;
  /** Undefined when no archive of that state exists. */
  open(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export interface AttachedFile {
  readonly id: FileId;
  readonly name: string;
  readonly sha256: string;
  /** Undefined when the file was deleted after the list was read. */
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
      /** State of a folder of which nothing is recorded yet, where several machines execute runs. */
      readonly startsAs?: FolderState;
    })
  /** The session ran before and its folder is gone, so it cannot continue (D-14). */
  | { readonly found: false };
