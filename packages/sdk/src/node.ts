import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { FileSource } from './sessions/file-content.ts';

/**
 * Opens a local file for upload. It is streamed, and read again if the upload is retried.
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
