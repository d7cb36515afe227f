import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';

const lockModule = new URL('../src/sign-in/lock.ts', import.meta.url).href;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-lock-'));
});
afterEach(() => removeFolder(folder));

/** Starts a process that increments a number in a file under the lock, by reading and writing it. */
function startCounting(times: number) {
  const code = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { setImmediate as turn } from 'node:timers/promises';
    import { holding } from '${lockModule}';
    for (let time = 0; time < ${times}; time++) {
      await holding('lock', async () => {
        const seen = Number(readFileSync('count', 'utf8'));
        await turn();
        writeFileSync('count', String(seen + 1));
      });
    }`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: folder,
    stdio: 'inherit',
  });
}

test('processes that take the lock together work one after the other, and leave nothing behind', async () => {
  await writeFile(join(folder, 'count'), '0');
  const started = Array.from({ length: 4 }, () => startCounting(10));
  const codes = await Promise.all(started.map(async (child) => (await once(child, 'exit'))[0]));
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(await readFile(join(folder, 'count'), 'utf8')).toBe('40');
  expect(await readdir(folder)).toEqual(['count']);
});

test('the lock of a process that was killed is free', async () => {
  await writeFile(join(folder, 'count'), '0');
  const killed = spawn(process.execPath, ['-e', '']);
  await once(killed, 'exit');
  const holder = JSON.stringify({ host: hostname(), pid: killed.pid });
  await writeFile(join(folder, 'lock'), holder);
  const started = Array.from({ length: 4 }, () => startCounting(5));
  await Promise.all(started.map((child) => once(child, 'exit')));
  expect(await readFile(join(folder, 'count'), 'utf8')).toBe('20');
});
