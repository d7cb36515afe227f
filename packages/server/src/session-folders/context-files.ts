import { createHash } from 'node:crypto';
import { ConfinedError, openConfined } from '../confined-fs/files.ts';
import type { ContextFile } from '../domain/context.ts';

const contextBytesMax = 1024 * 1024;

export type ReadContext =
  | { readonly ok: true; readonly file: ContextFile; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Reads a context file from the session folder, not from the agent's: the agent may have changed its copy. */
export async function readContextFile(root: string, path: string): Promise<ReadContext> {
  try {
    const handle = await openConfined(root, path);
    if (handle === undefined) return { ok: false, reason: 'missing' };
    try {
      const { size: sizeBytes } = await handle.stat();
      if (sizeBytes > contextBytesMax)
        return { ok: false, reason: `larger than ${contextBytesMax} bytes` };
      const content = await handle.readFile();
      const sha256 = createHash('sha256').update(content).digest('hex');
      const file = { path, sha256, sizeBytes: content.length };
      return { ok: true, file, text: content.toString('utf8') };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!(error instanceof ConfinedError)) throw error;
    return { ok: false, reason: error.code === 'ELOOP' ? 'a link' : `unreadable (${error.code})` };
  }
}
