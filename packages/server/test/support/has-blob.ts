import type { Blobs } from '../../src/ports/blobs.ts';

/** Whether there is such a blob. Closes its file, which a reader that is never read would leave open. */
export async function hasBlob(blobs: Blobs, key: string): Promise<boolean> {
  const found = await blobs.read(key);
  await found?.[Symbol.asyncIterator]().return?.();
  return found !== undefined;
}
