import { type FileId, fileId, idPrefixes } from '@convoke/contract';
import { publishRemovable } from '../../app/files/blob-removals.ts';
import { filesPerSessionMax } from '../../app/files/files.ts';
import { mayStore, storageLeft } from '../../app/files/tenant-storage.ts';
import type { Services } from '../../app/services.ts';
import { type File, type ReadyFile, completeFile, openFile, storageOf } from '../../domain/file.ts';
import type { Run } from '../../domain/run/run.ts';
import { type Session, acceptsFiles } from '../../domain/session.ts';
import { BlobTooLarge, type StagedBlob } from '../../ports/blobs.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { Output } from '../../ports/session-folders.ts';
import { outputFile } from './output-file.ts';

type OutputServices = Pick<
  Services,
  'store' | 'clock' | 'ids' | 'blobs' | 'sessionFolders' | 'settings' | 'log'
>;

/**
 * Stores what the agent wrote to `outputs/` in the leg that has just ended as files of the session. A file never
 * changes (D-41): an output that the agent changes becomes another file. Secrets are removed from names, not from the
 * content.
 */
export async function collectOutputs(
  services: OutputServices,
  { run, session }: { readonly run: Run; readonly session: Session },
  redact: (text: string) => Promise<string>,
): Promise<void> {
  if (!acceptsFiles(session, services.settings)) return;
  const refused = new Map<OutputRefusal, number>();
  await services.sessionFolders.takeOutputs(run, async (output) => {
    // Once the session has all the files it may have, no more bytes are read.
    const isFull = refused.has('too many files');
    const path = await redact(output.path);
    const kept = isFull ? 'too many files' : await keepOutput(services, run, { ...output, path });
    if (typeof kept === 'object') return kept.id;
    refused.set(kept, (refused.get(kept) ?? 0) + 1);
    return undefined;
  });
  for (const [reason, count] of refused) {
    services.log.warn('outputs not stored', { run_id: run.id, reason, count });
  }
}

type OutputRefusal = 'too large' | 'invalid name' | 'too many files' | 'no storage left';
type KeptOutput = { readonly id: FileId } | OutputRefusal;

async function keepOutput(services: OutputServices, run: Run, output: Output): Promise<KeptOutput> {
  const named = outputFile(output.path);
  if (named === undefined) return 'invalid name';
  const { store, settings } = services;
  const { maxFileBytes } = settings;
  if (output.sizeBytes > maxFileBytes) return 'too large';
  if (storageOf(output) > (await storageLeft(store.read, run, settings))) return 'no storage left';
  let staged: StagedBlob;
  try {
    staged = await services.blobs.stage(output.content, { maxBytes: maxFileBytes });
  } catch (error) {
    if (error instanceof BlobTooLarge) return 'too large';
    throw error;
  }
  try {
    return await publish(services, run, { named, staged });
  } finally {
    await staged.discard();
  }
}

interface Publishing {
  readonly named: Pick<File, 'name' | 'contentType'>;
  readonly staged: StagedBlob;
}

/** Publishes the bytes before the record, so that every reader of the record can read them. */
async function publish(
  services: OutputServices,
  run: Run,
  { named, staged }: Publishing,
): Promise<KeptOutput> {
  const { store, clock, ids, settings } = services;
  const { organizationId, tenantId, sessionId } = run;
  const id = fileId(ids.next(idPrefixes.file));
  const identity = { id, organizationId, tenantId, sessionId, ...named, declared: {} };
  const file = completeFile(openFile(identity, clock.now()), staged);
  const removal = { tenantId, ownerId: file.id, sha256: file.sha256 };
  await publishRemovable(services, staged, removal);
  return store.transaction(async (tx): Promise<KeptOutput> => {
    await tx.sessions.lock(run, sessionId);
    // Stored before, but the manifest of the folder that says so was lost.
    const known = await tx.files.ready(sessionId, filesPerSessionMax);
    const same = known.find(({ name, sha256 }) => name === file.name && sha256 === file.sha256);
    const why = same === undefined ? await refusalOf(tx, file, settings) : undefined;
    const other = same ?? why;
    if (other !== undefined) {
      await tx.blobRemovals.schedule(removal, clock.now());
      return other;
    }
    await tx.files.insert(file);
    if (await tx.blobRemovals.keep(removal)) return file;
    throw new StorageUnavailable('the bytes of an output were removed before they were recorded');
  });
}

async function refusalOf(
  tx: StoreTransaction,
  file: ReadyFile,
  settings: OutputServices['settings'],
): Promise<OutputRefusal | undefined> {
  if ((await tx.files.count(file.sessionId)) >= filesPerSessionMax) return 'too many files';
  const growth = { bytes: storageOf(file), ...settings };
  return (await mayStore(tx, file, growth)) ? undefined : 'no storage left';
}
