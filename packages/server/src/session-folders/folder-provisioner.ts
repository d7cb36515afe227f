import { mkdir, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TenantId, idPattern, tenantId } from '@convoke/contract';
import type { Provisioner } from '../ports/provisioner.ts';
import { hasCode } from '../runtime/error-code.ts';

/** The session folders of a tenant lie together under `<dataDir>/workspaces/<tenant>/`. */
export function createFolderProvisioner({ dataDir }: { readonly dataDir: string }): Provisioner {
  const folderOf = (id: TenantId) => {
    // An id becomes a folder name: whatever is not one must not become a path.
    if (!idPattern.test(id)) throw new Error('not an id');
    return join(dataDir, 'workspaces', id);
  };
  return {
    async openWorkspaces(id) {
      const folder = folderOf(id);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // A folder that was there before may be on a disk that is full or read-only by now.
      await rmdir(await mkdtemp(join(folder, '.probe-')));
    },
    async placedTenants() {
      const names = await readdir(join(dataDir, 'workspaces')).catch((error: unknown) => {
        if (hasCode(error, 'ENOENT')) return [];
        throw error;
      });
      return names.filter((name) => idPattern.test(name)).map(tenantId);
    },
    async removeWorkspaces(id) {
      await rm(folderOf(id), { recursive: true, force: true });
    },
  };
}
