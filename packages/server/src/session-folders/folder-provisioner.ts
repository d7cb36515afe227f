import { mkdir, mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { idPattern, tenantId } from '@convoke/contract';
import { removeTree } from '../confined-fs/remove-tree.ts';
import type { Provisioner } from '../ports/provisioner.ts';
import { hasCode } from '../runtime/error-code.ts';
import { tenantFolder, tenantsFolder } from './folder-paths.ts';

/** Makes and removes `<dataDir>/workspaces/<tenant>/`, which holds all session folders of a tenant. */
export function createFolderProvisioner({ dataDir }: { readonly dataDir: string }): Provisioner {
  return {
    async makeFolder(id) {
      const folder = tenantFolder(dataDir, id);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // The folder may have existed before, and its disk may be full or read-only now: prove that it is writable.
      await rmdir(await mkdtemp(join(folder, '.probe-')));
    },
    async tenantsWithFolder() {
      const names = await readdir(tenantsFolder(dataDir)).catch((error: unknown) => {
        if (hasCode(error, 'ENOENT')) return [];
        throw error;
      });
      return names.filter((name) => idPattern.test(name)).map(tenantId);
    },
    async removeFolder(id) {
      await removeTree(tenantFolder(dataDir, id));
    },
  };
}
