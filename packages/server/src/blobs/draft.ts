import { createHash } from 'node:crypto';
import { type FileHandle, open, rm, unlink } from 'node:fs/promises';
import { BlobTooLarge, type StagedBlob } from '../ports/blobs.ts';

export interface Draft {
  readonly path: string;
  readonly maxBytes: number;
  /** Whether to sync the file: needed where the draft itself becomes the blob. */
  readonly durable: boolean;
  readonly publish: (key: string, sizeBytes: number) => Promise<void>;
}

/** Writes a source into a new file and hashes it. A failure leaves no file. */
export async function stageDraft(
  source: AsyncIterable<Uint8Array>,
  { path, maxBytes, durable, publish }: Draft,
): Promise<StagedBlob> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const handle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of source) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw new BlobTooLarge(`more than ${maxBytes} bytes`);
      hash.update(chunk);
      await writeWhole(handle, chunk);
    }
    if (durable) await handle.sync();
  } catch (error) {
    await handle.close();
    await unlink(path);
    throw error;
  }
  await handle.close();
  let isDiscarded = false;
  return {
    sizeBytes,
    sha256: hash.digest('hex'),
    async publish(key) {
      if (isDiscarded) throw new Error('a discarded blob cannot be published');
      await publish(key, sizeBytes);
    },
    async discard() {
      isDiscarded = true;
      await rm(path, { force: true });
    },
  };
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let from = 0; from < chunk.length; ) {
    from += (await handle.write(chunk, from, chunk.length - from)).bytesWritten;
  }
}
