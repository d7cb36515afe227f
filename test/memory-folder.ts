// A run of the tests commits tens of thousands of transactions, and each one waits until the disk has it. In memory it
// waits for nothing, and a disk that is slow at times fails no test. The code under test still calls fsync.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** Linux keeps here, in memory, what programs share. */
const home = '/dev/shm';
/** Three times what the tests of a whole run keep at a time, most of it the container image. */
const neededBytes = 4 * 1024 ** 3;

/**
 * The shell waits for the end of its input, which comes when this process ends, even killed: no memory stays in use.
 * Then the programs of the tests may still write while they end. What another file system has mounted there is not
 * removed.
 */
const removal = `trap '' INT TERM HUP; read -r _
for second in 1 2 3 4 5 6 7 8 9; do find "$0" -xdev -delete && exit; sleep 1; done`;

/**
 * Run by vitest before any other setup. Workers inherit TMPDIR, below which Node, SQLite and the programs that the
 * tests start keep their temporary files. Where memory is short or another folder is named, nothing changes.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env['TMPDIR'] !== undefined || !(await hasRoom())) return undefined;
  const folder = await mkdtemp(join(home, 'convoke-'));
  // PostgreSQL runs as another user, like programs that tests start in sandboxes.
  await chmod(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  const guard = spawn('sh', ['-c', removal, folder], { stdio: ['pipe', 'ignore', 'ignore'] });
  return async () => {
    guard.stdin.end();
    await once(guard, 'close');
  };
}

/** Whether temporary files are in memory. */
export function isInMemory(): boolean {
  return process.env['TMPDIR']?.startsWith(`${home}/`) === true;
}

/** Containers often have 64 MB here, from which no program may be started. */
async function hasRoom(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n');
  const [, , type, options = ''] =
    mounts.findLast((line) => line.split(' ')[1] === home)?.split(' ') ?? [];
  if (type !== 'tmpfs' || /\b(ro|noexec|nodev|nosuid)\b/.test(options)) return false;
  const { bavail, bsize } = await statfs(home);
  return bavail * bsize >= neededBytes && process.availableMemory() >= neededBytes;
}
