import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin } from './path.ts';

const fileBytesMax = 256 * 1024;

/** A problem with a file of an agent's folder; the message is for the person who maintains the folder. */
export class AgentFileError extends Error {
  override readonly name = 'FolderFault';
}

/** Reads a file of an agent's folder as text; `undefined` when there is none. Links must stay within the folder. */
export async function readAgentFile(folder: string, name: string): Promise<string | undefined> {
  const path = await realpath(join(folder, name)).catch(() => undefined);
  if (path === undefined) return undefined;
  if (!isWithin(await realpath(folder), path)) {
    throw new AgentFileError(`${name} is a link that leaves the agent's folder`);
  }
  // O_NONBLOCK: opening a pipe must not block a thread of the pool for ever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new AgentFileError(`${name} is not a file`);
    if (stats.size > fileBytesMax)
      throw new AgentFileError(`${name} is larger than ${fileBytesMax} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile());
  } catch (error) {
    if (error instanceof TypeError)
      throw new AgentFileError(`${name} is not UTF-8 text`, { cause: error });
    throw error;
  } finally {
    await handle.close();
  }
}
