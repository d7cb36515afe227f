import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import { createFolderProvisioner } from '../../src/session-folders/folder-provisioner.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { quietLog } from './quiet-log.ts';
import type { RunFixture } from './run-fixture.ts';

/** The services of the fixture, and a disk for the blobs and session folders that an offboarding removes. */
export async function withDisk(world: RunFixture) {
  const dataDir = mkdtempSync(join(tmpdir(), 'convoke-disk-'));
  atFileEnd(() => removeFolderSync(dataDir));
  return {
    ...world,
    blobs: await openDiskBlobs({ dataDir }),
    sessionFolders: openSessionFolders({ dataDir, log: quietLog }),
    provisioner: createFolderProvisioner({ dataDir }),
  };
}
