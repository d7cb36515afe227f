import { stat } from 'node:fs/promises';
import type { FileRecord, SessionHandle } from '@convoke/sdk';
import type { openFile } from '@convoke/sdk/node';
import { exitCodes, Failure } from './failure.ts';
import { progressBar } from './terminal/progress-bar.ts';

export type Upload = Awaited<ReturnType<typeof openFile>>;

/** Opens a file of this machine for upload. Fails before anything is sent if it is not a file. */
export async function openUpload(path: string): Promise<Upload> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Failure(`there is no file ${path}`, exitCodes.usage);
  if (!found.isFile()) throw new Failure(`${path} is not a file`, exitCodes.usage);
  // Imported here: only uploads need it.
  const node = await import('@convoke/sdk/node');
  return node.openFile(path);
}

/** Uploads a file into a session, with a bar on a terminal. */
export async function uploadFile(
  session: SessionHandle,
  upload: Upload,
  name: string = upload.name,
): Promise<FileRecord> {
  const bar = progressBar(name);
  return session.files.upload(upload, { name, onProgress: bar.update }).finally(bar.end);
}
