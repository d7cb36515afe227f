import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import type { Sandbox } from '../../src/ports/sandbox.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openSandbox } from '../../src/sandbox/sandbox.ts';

let dataDir: string;
let sandbox: Sandbox;
const logged: string[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'convoke-detection-'));
  logged.length = 0;
  const note = (message: string) => void logged.push(message);
  const log = { info: note, warn: note, error: note };
  sandbox = await openSandbox({ mode: 'none', dataDir, clock: systemClock, log });
});
afterEach(async () => {
  await sandbox.close();
  await removeFolder(dataDir);
});

test('a sandbox is detected when its report is asked for, once', async () => {
  const reports = await Promise.all([sandbox.describe(), sandbox.describe()]);
  expect(reports[0]).toEqual(reports[1]);
  expect(existsSync(join(dataDir, 'sandbox/etc'))).toBe(true);
  expect(logged).toHaveLength(1);
});

test('a program that starts first waits for the detection', async () => {
  // As root it is refused, also because of what was detected.
  await sandbox.spawn(['true'], programIn(dataDir)).then(
    ({ exited }) => exited,
    () => undefined,
  );
  expect(existsSync(join(dataDir, 'sandbox/etc'))).toBe(true);
  expect(logged).toHaveLength(1);
});

test('a sandbox that was closed without a question was not detected, and starts no program', async () => {
  await sandbox.close();
  expect(logged).toEqual([]);
  await expect(sandbox.spawn(['true'], programIn(dataDir))).rejects.toThrow(
    'The server is stopping.',
  );
  expect(existsSync(join(dataDir, 'sandbox'))).toBe(false);
});

function programIn(folder: string) {
  const limits = { memoryMb: 256, pids: 16, seconds: 20 };
  const places = { sessionFolder: folder, home: folder, folder };
  return { mode: 'auto', ...places, env: {}, network: [], limits } as const;
}
