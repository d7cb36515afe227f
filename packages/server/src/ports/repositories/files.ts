import type { FileId, SessionId, TenantId } from '@convoke/contract';
import type { File, ReadyFile } from '../../domain/file.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { PageRequest } from '../page.ts';

export interface FileRepository {
  insert(file: File): Promise<void>;
  find(scope: TenantScope, sessionId: SessionId, id: FileId): Promise<File | undefined>;
  /** Records the bytes of a pending file; false when another upload was first or the file is gone. */
  complete(file: ReadyFile): Promise<boolean>;
  remove(scope: TenantScope, sessionId: SessionId, id: FileId): Promise<boolean>;
  list(scope: TenantScope, sessionId: SessionId, page: PageRequest): Promise<File[]>;
  ready(sessionId: SessionId, limit: number): Promise<ReadyFile[]>;
  isReady(sessionId: SessionId, id: string): Promise<boolean>;
  count(sessionId: SessionId): Promise<number>;
  /** The storage of a tenant: the bytes of all its files, declared or stored, each at least `fileLeastBytes`. */
  storedBytes(tenantId: TenantId): Promise<number>;
}
