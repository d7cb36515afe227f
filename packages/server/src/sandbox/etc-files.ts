import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from '../ports/sandbox.ts';
import { insidePlaces } from './file-system-view.ts';

/**
 * Writes the files of /etc that programs in the sandbox see instead of this machine's: many programs look up the
 * name of their user and fail without one.
 */
export async function writeEtcFiles(folder: string, { uid, gid }: Account): Promise<void> {
  await mkdir(folder, { recursive: true });
  const files = {
    passwd: `root:x:0:0:root:/:/bin/sh\nagent:x:${uid}:${gid}:agent:${insidePlaces.home}:/bin/sh\n`,
    group: `root:x:0:\nagent:x:${gid}:\n`,
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await writeFile(path, text);
    // The server's umask makes its files private, but programs run as another user.
    await chmod(path, 0o644);
  }
}
