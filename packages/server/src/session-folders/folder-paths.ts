import { join, sep } from 'node:path';
import { type TenantId, idPattern } from '@convoke/contract';
import type { FolderOwner } from '../ports/session-folders.ts';

/** Paths of the parts of one session folder. */
export interface FolderPaths {
  readonly sessionFolder: string;
  readonly stateDir: string;
  readonly manifest: string;
}

/** The name on disk is older than the word "session folder" and stays. */
export function tenantsFolder(dataDir: string): string {
  return join(dataDir, 'workspaces');
}

/** Throws unless `tenantId` is an id: only an id may become part of a path. */
export function tenantFolder(dataDir: string, tenantId: TenantId): string {
  if (!idPattern.test(tenantId)) throw new Error('not an id');
  return `${tenantsFolder(dataDir)}${sep}${tenantId}`;
}

export function folderPaths(
  dataDir: string,
  { tenantId, sessionId }: Pick<FolderOwner, 'tenantId' | 'sessionId'>,
): FolderPaths {
  if (!idPattern.test(sessionId)) throw new Error('not an id');
  const sessionFolder = `${tenantFolder(dataDir, tenantId)}${sep}${sessionId}`;
  return { sessionFolder, stateDir: `${sessionFolder}.home`, manifest: `${sessionFolder}.json` };
}
