import {
  type FileId,
  type SessionId,
  fileId,
  idPrefixes,
  isTerminalSessionStatus,
} from '@convoke/contract';
import type { BlobRemoval } from '../../domain/blob-removal.ts';
import {
  type Content,
  type File,
  type ReadyFile,
  openFile,
  receiveContent,
  storageOf,
} from '../../domain/file.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { type Session, acceptsFiles } from '../../domain/session.ts';
import { type BlobReader, BlobTooLarge, type StagedBlob } from '../../ports/blobs.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { Repositories, StoreTransaction } from '../../ports/store.ts';
import { fileKey } from './blob-keys.ts';
import { finishBlobRemoval, publishRemovable } from './blob-removals.ts';
import { mayStore, storageLeft } from './tenant-storage.ts';
import { once } from '../once.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { type Created, asOfNow } from '../sessions.ts';

export const filesPerSessionMax = 1000;

type FileServices = Pick<Services, 'store' | 'clock' | 'settings'>;

export interface PrepareFile {
  readonly sessionId: SessionId;
  readonly name: string;
  readonly contentType: string;
  readonly sizeBytes: number | undefined;
  readonly sha256: string | undefined;
}

type PrepareServices = Pick<Services, 'store' | 'clock' | 'ids' | 'settings'>;

/** D-40: announces a file; its bytes are uploaded next. */
export function prepareFile(
  services: PrepareServices,
  scope: TenantScope,
  request: PrepareFile,
): Promise<File> {
  return services.store.transaction(async (tx) => {
    await tx.sessions.lock(scope, request.sessionId);
    const session = await sessionWithFiles(services, tx, { scope, id: request.sessionId });
    const id = fileId(services.ids.next(idPrefixes.file));
    return insertFile(services, tx, { session, id, request });
  });
}

/**
 * As `prepareFile`, or returns the file that the same key announced before, also in a session that has ended (D-492).
 */
export function prepareFileOnce(
  services: PrepareServices,
  scope: TenantScope,
  request: PrepareFile & {
    readonly idempotencyKey: string | undefined;
    readonly chargeRate: () => void;
  },
): Promise<Created<File>> {
  const { sessionId, name, contentType, sizeBytes, sha256 } = request;
  return services.store.transaction(async (tx) => {
    await tx.sessions.lock(scope, sessionId);
    const session = await sessionWithFiles(services, tx, { scope, id: sessionId });
    const id = fileId(services.ids.next(idPrefixes.file));
    const first = await once(tx, {
      scope,
      place: `prepare_file:${session.id}`,
      key: request.idempotencyKey,
      body: { name, contentType, sizeBytes: sizeBytes ?? null, sha256: sha256 ?? null },
      resourceId: id,
      now: services.clock.now(),
      chargeRate: request.chargeRate,
    });
    if (first.fresh) {
      return {
        resource: await insertFile(services, tx, { session, id, request }),
        replayed: false,
      };
    }
    const known = await tx.files.find(scope, session.id, fileId(first.resourceId));
    return { resource: known ?? refuse('not_found'), replayed: true };
  });
}

interface NewFile {
  readonly session: Session;
  readonly id: FileId;
  readonly request: PrepareFile;
}

async function insertFile(
  { clock, settings }: PrepareServices,
  tx: StoreTransaction,
  { session, id, request }: NewFile,
): Promise<File> {
  refuseEnded(session);
  if (request.sizeBytes !== undefined && request.sizeBytes > settings.maxFileBytes) {
    return refuse('file_too_large');
  }
  if ((await tx.files.count(session.id)) >= filesPerSessionMax) {
    return refuse('file_limit_reached');
  }
  const { name, contentType, sizeBytes, sha256 } = request;
  const file = openFile(
    {
      id,
      organizationId: session.organizationId,
      tenantId: session.tenantId,
      sessionId: session.id,
      name,
      contentType,
      declared: { sizeBytes, sha256 },
    },
    clock.now(),
  );
  const growth = { bytes: storageOf(file), ...settings };
  if (!(await mayStore(tx, session, growth))) return refuse('storage_limit_reached');
  await tx.files.insert(file);
  return file;
}

export interface FileAddress {
  readonly sessionId: SessionId;
  readonly fileId: FileId;
}

/** `lost`: another upload of the same file was first. `full`: the tenant has no room for the bytes. */
type Outcome = 'stored' | 'lost' | 'full';

type StoringServices = FileServices & Pick<Services, 'blobs' | 'clock' | 'log'>;

/** D-41: bytes are complete, checked and durable before the row is `ready`; an aborted upload leaves nothing. */
export async function uploadFile(
  services: StoringServices,
  scope: TenantScope,
  request: FileAddress & { readonly content: AsyncIterable<Uint8Array> },
): Promise<File> {
  // Before the file: another upload of it may end in between, and then its bytes must not count twice.
  const left = await storageLeft(services.store.read, scope, services.settings);
  const { file: announced, session } = await findFile(services, scope, request);
  // Repeating the upload of a file that is ready changes nothing: it succeeds in an ended session too.
  if (announced.status === 'pending') refuseEnded(session);
  const room = storageOf(announced) + left;
  const staged = await stage(services, request.content, room);
  try {
    const { file } = await findFile(services, scope, request);
    const received = orRefuse(receiveContent(file, staged));
    if (received.repeated) return received.file;
    const removal = { tenantId: file.tenantId, ownerId: file.id, sha256: staged.sha256 };
    await publishRemovable(services, staged, removal);
    const outcome = await record(services, received.file, { seen: file, removal });
    if (outcome === 'stored') return received.file;
    if (outcome === 'full') {
      await removeNow(services, removal);
      return refuse('storage_limit_reached');
    }
    // Another upload was first: compare with the bytes it stored.
    return await afterLosing(services, scope, { at: request, content: staged });
  } finally {
    await staged.discard();
  }
}

/** Names the bytes of an upload in the row of its file, if the tenant has room for them. */
function record(
  { store, clock, settings }: StoringServices,
  file: ReadyFile,
  { seen, removal }: { readonly seen: File; readonly removal: BlobRemoval },
): Promise<Outcome> {
  const growth = { bytes: storageOf(file) - storageOf(seen), ...settings };
  return store.transaction(async (tx) => {
    if (!(await mayStore(tx, file, growth))) {
      // The bytes may be those of an upload that was first, which must stay.
      const current = await tx.files.find(file, file.sessionId, file.id);
      if (current?.status !== 'pending') return 'lost';
      await tx.blobRemovals.schedule(removal, clock.now());
      return 'full';
    }
    if (!(await tx.files.complete(file))) return 'lost';
    if (await tx.blobRemovals.keep(removal)) return 'stored';
    throw new StorageUnavailable('the bytes of an upload were removed before they were recorded');
  });
}

/** Removes the bytes of an upload that lost the race, unless they equal those of the winner. */
async function afterLosing(
  services: StoringServices,
  scope: TenantScope,
  { at, content }: { readonly at: FileAddress; readonly content: Content },
): Promise<File> {
  const removal = { tenantId: scope.tenantId, ownerId: at.fileId, sha256: content.sha256 };
  const winner = await services.store.transaction(async (tx) => {
    const found = await tx.files.find(scope, at.sessionId, at.fileId);
    if (found?.sha256 === content.sha256) await tx.blobRemovals.keep(removal);
    else await tx.blobRemovals.schedule(removal, services.clock.now());
    return found;
  });
  if (winner?.sha256 !== content.sha256) await removeNow(services, removal);
  return orRefuse(receiveContent(winner ?? refuse('not_found'), content)).file;
}

/** Reads the bytes, at most as many as the tenant has room for: no more need space while they are checked. */
async function stage(
  { blobs, settings }: Pick<Services, 'blobs' | 'settings'>,
  content: AsyncIterable<Uint8Array>,
  room: number,
): Promise<StagedBlob> {
  try {
    return await blobs.stage(content, { maxBytes: Math.min(settings.maxFileBytes, room) });
  } catch (error) {
    if (!(error instanceof BlobTooLarge)) throw error;
    return refuse(room < settings.maxFileBytes ? 'storage_limit_reached' : 'file_too_large');
  }
}

export interface Download {
  readonly file: ReadyFile;
  readonly open: (range?: { start: number; end: number }) => Promise<BlobReader>;
}

export async function downloadFile(
  services: FileServices & Pick<Services, 'blobs'>,
  scope: TenantScope,
  request: FileAddress,
): Promise<Download> {
  const { file } = await findFile(services, scope, request);
  if (file.status !== 'ready') return refuse('file_not_ready');
  return {
    file,
    // The file may be deleted between the reads of its row and of its bytes.
    open: async (range) =>
      (await services.blobs.read(fileKey(file, file.sha256), range)) ?? refuse('not_found'),
  };
}

export async function listFiles(
  services: FileServices,
  scope: TenantScope,
  request: { readonly sessionId: SessionId; readonly page: PageRequest },
): Promise<File[]> {
  const { store } = services;
  await sessionWithFiles(services, store.read, { scope, id: request.sessionId });
  return store.read.files.list(scope, request.sessionId, request.page);
}

/**
 * D-42: deletes the row first, so that no row exists without its bytes; a worker removes bytes that are left then. An
 * id that is not in the session has nothing to delete: the first response may have been lost (D-275).
 */
export async function deleteFile(
  services: StoringServices,
  scope: TenantScope,
  request: FileAddress,
): Promise<void> {
  await sessionWithFiles(services, services.store.read, { scope, id: request.sessionId });
  const removal = { tenantId: scope.tenantId, ownerId: request.fileId, sha256: '' };
  const removed = await services.store.transaction(async (tx) => {
    if (!(await tx.files.remove(scope, request.sessionId, request.fileId))) return false;
    await tx.blobRemovals.schedule(removal, services.clock.now());
    return true;
  });
  if (removed) await removeNow(services, removal);
}

/** Removes bytes at once where that is possible. The row of the removal is committed, so a failure changes nothing. */
async function removeNow(services: StoringServices, removal: BlobRemoval): Promise<void> {
  try {
    await finishBlobRemoval(services, removal);
  } catch (error) {
    const fields = { owner_id: removal.ownerId };
    services.log.error('bytes could not be removed yet; a worker will', error, fields);
  }
}

async function findFile(
  services: FileServices,
  scope: TenantScope,
  at: FileAddress,
): Promise<{ readonly file: File; readonly session: Session }> {
  const { read } = services.store;
  const session = await sessionWithFiles(services, read, { scope, id: at.sessionId });
  const file = (await read.files.find(scope, at.sessionId, at.fileId)) ?? refuse('not_found');
  return { file, session };
}

/** D-43: without attachments, or for an agent that takes none, file operations are unavailable. */
async function sessionWithFiles(
  services: FileServices,
  read: Repositories,
  { scope, id }: { scope: TenantScope; id: SessionId },
): Promise<Session> {
  if (!services.settings.fileAttachments) return refuse('files_unavailable');
  const session = (await read.sessions.find(scope, id)) ?? refuse('not_found');
  if (!acceptsFiles(session, services.settings)) return refuse('files_unavailable');
  return asOfNow(services, session);
}

/** D-43: an ended session takes no new bytes; the files that it has can be read and deleted. */
function refuseEnded({ status }: Session): void {
  if (isTerminalSessionStatus(status)) refuse('session_terminal');
}
