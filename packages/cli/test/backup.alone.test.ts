// The backup of a deployment, as docs/guides/operate.md says to make and to restore it.
import { execFile } from 'node:child_process';
import {
  chown,
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../../test/dev-server.ts';
import { root } from '../../../test/repository.ts';
import {
  type CommandLine,
  createCommandLine,
  mainPath,
  manyProcessesMs,
  ownEnvironment,
  parsedLines,
} from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs, hookTimeout: manyProcessesMs });

const run = promisify(execFile);

let server: DevServer;
let convoke: CommandLine;
beforeAll(async () => {
  server = await startDevServer();
  convoke = await createCommandLine(server.place);
});
afterAll(async () => {
  await convoke.remove();
  await server.stop();
});

test('what the guide says to type backs up a running server, and restores it', async () => {
  const path = join(server.place, 'words.txt');
  await writeFile(path, 'words to keep');
  const invoked = await convoke.run(['invoke', 'demo', 'Hello', '--file', path, '--json']);
  const { session_id: session = '', run_id = '' } = parsedLines(invoked.stdout)[0] ?? {};
  const folder = join('workspaces', server.quickstart['tenant_id'] ?? '', session);
  const own = join(server.place, '.convoke', folder);
  await chown(own, 12_345, 12_345).catch(() => undefined);
  await symlink('/etc/passwd', join(own, 'link'));
  await writeFile(join(own, 'two\nlines'), 'odd name');
  await writeFile(join(own, 'program'), '#!/bin/sh\n', { mode: 0o755 });

  const [backup = '', restore = ''] = await blocksOfGuide();
  await inPlace(backup);
  const saved = join(server.place, 'backup');
  expect((await stat(saved)).mode & 0o777).toBe(0o700);
  for (const name of ['convoke.db', 'files.sha256']) {
    expect((await stat(join(saved, name))).mode & 0o777).toBe(0o600);
  }
  expect((await readdir(saved)).toSorted()).toEqual([
    'blobs',
    'convoke.db',
    'files.sha256',
    'workspaces',
  ]);
  expect((await lstat(join(saved, folder, 'link'))).isSymbolicLink()).toBe(true);
  expect((await stat(join(saved, folder, 'program'))).mode & 0o777).toBe(0o700);
  // Only root can have given it to another user.
  expect((await stat(join(saved, folder))).uid).toBe((await stat(own)).uid);
  expect(await readFile(join(saved, folder, 'two\nlines'), 'utf8')).toBe('odd name');

  await inPlace(restore);
  // The address and the client of this development server, which the restored one takes over.
  const restored = join(server.place, 'restored');
  await cp(join(server.place, '.convoke/quickstart.json'), join(restored, 'quickstart.json'));
  process.kill(server.processId, 'SIGTERM');
  server = await server.restart({ CONVOKE_DATA_DIR: 'restored' });
  const env = { CONVOKE_DATA_DIR: 'restored' };
  const { files } = await json<{ files: { id: string }[] }>(['files', 'ls', session], env);
  const content = await convoke.run(['files', 'get', session, files[0]?.id ?? ''], { env });
  expect(content.stdout).toBe('words to keep');
  const follow = ['events', session, run_id, '--follow', '--answer', '1', '--approve', 'allow'];
  const followed = await convoke.run(follow, { env });
  expect(followed).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Thank you, Captain'),
  });
});

test('a backup is refused where it would be mixed with something, lost, or incomplete', async () => {
  const full = join(server.place, 'full');
  await mkdir(full);
  await writeFile(join(full, 'mine.txt'), 'mine');
  const cases: readonly [string, Record<string, string>, RegExp][] = [
    ['full', {}, /full is not empty/],
    ['.convoke/backup', {}, /inside the data folder/],
    ['absent/backup', {}, /there is no folder .*absent/],
    ['other', { CONVOKE_DATA_DIR: 'nothing-here' }, /there is no database in .*nothing-here/],
    ['other', { CONVOKE_DATABASE_URL: 'postgres://127.0.0.1:1/x' }, /PostgreSQL: .*pg_dump/],
  ];
  const before = await readdir(server.place);
  for (const [folder, env, message] of cases) {
    const { code, stdout, stderr } = await convoke.run(['backup', folder], { env });
    expect({ folder, code, stdout }).toEqual({ folder, code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  }
  expect(await readdir(server.place)).toEqual(before);
  expect(await readdir(full)).toEqual(['mine.txt']);
});

test('a damaged database is not called a backup', async () => {
  const folder = join(server.place, 'damaged');
  await mkdir(folder);
  const database = await readFile(join(server.place, 'backup/convoke.db'));
  database.fill(0xff, 8192, 40_960);
  await writeFile(join(folder, 'convoke.db'), database);
  const env = { CONVOKE_DATA_DIR: folder };
  const { code, stderr } = await convoke.run(['backup', 'copy-of-damaged'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/damaged|malformed|not a database/);
  const left = (await readdir(server.place)).filter((name) => name.startsWith('copy-of-damaged'));
  expect(left).toEqual([]);
});

async function blocksOfGuide(): Promise<readonly string[]> {
  const guide = await readFile(join(root, 'docs/guides/operate.md'), 'utf8');
  return Array.from(guide.matchAll(/^```sh run\n([\s\S]*?)^```/gm), ([, block = '']) => block);
}

async function inPlace(commands: string): Promise<void> {
  const npx = `npx() { shift; "${process.execPath}" "${mainPath}" "$@"; }\n`;
  await run('bash', ['-euo', 'pipefail', '-c', npx + commands], {
    cwd: server.place,
    env: ownEnvironment(convoke.settings),
  });
}

async function json<T>(args: readonly string[], env: Record<string, string>): Promise<T> {
  return JSON.parse((await convoke.run([...args, '--json'], { env })).stdout) as T;
}
