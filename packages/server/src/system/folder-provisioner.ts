import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TenantId, idPattern } from '@convoke/contract';
import type { Provisioner } from '../ports/provisioner.ts';

/** One machine: the session folders of a tenant lie together under `<dataDir>/workspaces/<tenant>/`. */
export function createFolderProvisioner({ dataDir }: { readonly dataDir: string }): Provisioner {
  const folderOf = (tenantId: TenantId) => {
    // An id becomes a folder name: whatever is not one must not become a path.
    if (!idPattern.test(tenantId)) throw new Error('not an id');
    return join(dataDir, 'workspaces', tenantId);
  };
  return {
    async openWorkspaces(tenantId) {
      const folder = folderOf(tenantId);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // A folder that was there before may be on a disk that is full or read-only by now.
      await rmdir(await mkdtemp(join(folder, '.probe-')));
    },
    async removeWorkspaces(tenantId) {
      await rm(folderOf(tenantId), { recursive: true, force: true });
    },
  };
}
