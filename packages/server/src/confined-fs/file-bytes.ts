import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 128 * 1024;

/** Yields the bytes of an open file from its start; closes it at the end, or when iteration stops early. */
export async function* bytesOf(handle: FileHandle): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; ; ) {
      const { buffer, bytesRead } = await handle.read(
        Buffer.allocUnsafe(chunkBytes),
        0,
        chunkBytes,
        at,
      );
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Returns the SHA-256 of an open file and closes it. */
export async function digestOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytesOf(handle)) hash.update(chunk);
  return hash.digest('hex');
}
