import { idPattern, sessionId, tenantId } from '@convoke/contract';
import { readEntries } from '../confined-fs/folder-entries.ts';
import type { FolderOwner } from '../ports/session-folders.ts';
import { hasCode } from '../runtime/error-code.ts';
import { tenantFolder, tenantsFolder } from './folder-paths.ts';

/** Bound of tenants, and of the entries of one tenant: the server makes four for a session. */
const namesMax = 1_000_000;

/** Lists the sessions that have a folder, a HOME or another part of one on this machine. */
export async function keptFolders(dataDir: string): Promise<readonly FolderOwner[]> {
  const kept: FolderOwner[] = [];
  for (const tenant of await namesIn(tenantsFolder(dataDir))) {
    if (!idPattern.test(tenant)) continue;
    const names = await namesIn(tenantFolder(dataDir, tenantId(tenant)));
    // Ids have no dots: the rest of a name says which part of the session it is.
    const sessions = new Set(names.map((name) => name.split('.', 1).join('')));
    for (const id of sessions) {
      if (idPattern.test(id)) kept.push({ tenantId: tenantId(tenant), sessionId: sessionId(id) });
    }
  }
  return kept;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readEntries(folder, namesMax)).map(({ name }) => name);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
