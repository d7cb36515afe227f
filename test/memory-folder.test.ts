import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeFolderSync } from './remove-folder.ts';

const program = `
  const { setup } = await import(${JSON.stringify(new URL('memory-folder.ts', import.meta.url).href)});
  await setup();
  console.log(process.env.TMPDIR ?? '');
  process.stdin.resume();`;

/** A process that prepared itself as vitest does, and the folder that its tests would use. */
async function preparedRun(env: Readonly<Record<string, string>> = {}) {
  const { TMPDIR: _, ...others } = process.env;
  const run: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...others, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = run.stdout === null ? [] : await once(run.stdout, 'data');
  return { run, folder: String(line).trim() };
}

test('the temporary files of a run that is killed do not stay in memory', async () => {
  const { run, folder } = await preparedRun();
  // Empty on a machine without enough memory, where a run keeps its files on the disk.
  if (folder !== '') {
    expect(folder).toMatch(/^\/dev\/shm\/convoke-/);
    writeFileSync(join(folder, 'file'), 'left by a test');
  }
  run.kill('SIGKILL');
  await once(run, 'exit');
  await expect.poll(() => existsSync(folder)).toBe(false);
});

test('a run uses the folder for temporary files that its environment names', async () => {
  const named = mkdtempSync(join(tmpdir(), 'convoke-named-'));
  try {
    const { run, folder } = await preparedRun({ TMPDIR: named });
    run.kill('SIGKILL');
    expect(folder).toBe(named);
  } finally {
    removeFolderSync(named);
  }
});
