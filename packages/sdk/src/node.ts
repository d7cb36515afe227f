import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { FileSource } from './sessions/file-content.ts';

/**
 * A file of this machine, to upload. It is read piece by piece, and again where an upload is retried.
 *
 * @example
 * await session.files.upload(await openFile('report.pdf'));
 */
export async function openFile(path: string): Promise<Required<Omit<FileSource, 'type'>>> {
  const { size } = await stat(path);
  return {
    name: basename(path),
    size,
    stream: () => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>,
  };
}
