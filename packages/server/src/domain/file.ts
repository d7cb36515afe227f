import type { FileId, SessionId } from '@convoke/contract';
import { type Ruling, accepted, refused } from './refusal.ts';
import type { TenantScope } from './scope.ts';

/**
 * A file of a session.
 *
 * - `pending`: the client announced it; its bytes have not arrived or are not checked yet.
 * - `ready`: its bytes are complete and checked. A ready file never changes.
 */
export type File = PendingFile | ReadyFile;

interface FileIdentity extends TenantScope {
  readonly id: FileId;
  readonly sessionId: SessionId;
  readonly name: string;
  readonly contentType: string;
  readonly createdAt: number;
}

export interface PendingFile extends FileIdentity {
  readonly status: 'pending';
  /** Size the client declared, if it did. */
  readonly sizeBytes: number | null;
  /** Digest the client declared, if it did. */
  readonly sha256: string | null;
}

export interface ReadyFile extends FileIdentity, Content {
  readonly status: 'ready';
}

export interface Content {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** The least size that a file is charged, also before its bytes arrive: its record needs space, too. */
export const fileLeastBytes = 4096;

/** The size that is charged to the storage of the file's tenant. */
export function storageOf({ sizeBytes }: Pick<File, 'sizeBytes'>): number {
  return Math.max(sizeBytes ?? 0, fileLeastBytes);
}

export type NewFile = Omit<FileIdentity, 'createdAt'> & {
  readonly declared: {
    readonly sizeBytes?: number | undefined;
    readonly sha256?: string | undefined;
  };
};

export function openFile({ declared, ...identity }: NewFile, now: number): PendingFile {
  return {
    ...identity,
    sizeBytes: declared.sizeBytes ?? null,
    sha256: declared.sha256 ?? null,
    status: 'pending',
    createdAt: now,
  };
}

export function completeFile(file: PendingFile, { sizeBytes, sha256 }: Content): ReadyFile {
  return { ...file, sizeBytes, sha256, status: 'ready' };
}

/** D-41: bytes must match what was declared. The same bytes again change nothing; others are refused. */
export function receiveContent(
  file: File,
  content: Content,
): Ruling<{ file: ReadyFile; repeated: boolean }> {
  if (file.status === 'ready') {
    return file.sha256 === content.sha256
      ? accepted({ file, repeated: true })
      : refused('file_already_uploaded');
  }
  if (file.sizeBytes !== null && file.sizeBytes !== content.sizeBytes) {
    return refused(
      'content_mismatch',
      `size_bytes was declared ${file.sizeBytes}, received ${content.sizeBytes}`,
    );
  }
  if (file.sha256 !== null && file.sha256 !== content.sha256) {
    return refused(
      'content_mismatch',
      `sha256 was declared ${file.sha256}, received ${content.sha256}`,
    );
  }
  return accepted({ file: completeFile(file, content), repeated: false });
}
