import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { codeHarness } from '../../../src/harness/code/harness.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Harness } from '../../../src/ports/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { openSandbox } from '../../../src/sandbox/sandbox.ts';
import { agentOf, readBy, recordingLog, temporaryFolder } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';

/** A name that no other process on the machine has in its command line. */
const entry = `slow-${process.pid}.ts`;

beforeAll(() => requireSandbox());

test('a program that does not load in time is ended, and may be tried again', async () => {
  let expire: (() => void) | undefined;
  const clock: Clock = {
    now: () => systemClock.now(),
    after(ms, callback) {
      if (ms === 60_000) expire = callback;
      return systemClock.after(ms, callback);
    },
  };
  const parts = { clock, log: recordingLog() };
  const sandbox = await openSandbox({ ...parts, mode: 'auto', dataDir: await temporaryFolder() });
  onTestFinished(() => sandbox.close());
  const folder = join(await temporaryFolder(), 'slow');
  await mkdir(folder, { mode: 0o755 });
  await writeFile(
    join(folder, entry),
    'setInterval(() => {}, 1000);\nawait new Promise(() => {});\n',
  );
  const harness: Harness = codeHarness({ ...parts, sandbox });
  const { settings } = readBy(harness, agentOf({ framework: 'code', folder, settings: { entry } }));
  const prepared = harness.prepare?.({ name: 'slow', folder, settings });
  await eventually(() => readdirSync('/proc').some(isProgram));
  expire?.();
  expect(await prepared).toEqual({
    ok: false,
    problem: `${entry} took more than 60 s to load. The server tries again later, and when the folder changes.`,
    isTransient: true,
  });
});

/** Whether the sandbox is set up and Node has been started in it. */
function isProgram(pid: string): boolean {
  try {
    const parts = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return parts[0] === process.execPath && parts.includes(`/agent/${entry}`);
  } catch {
    return false;
  }
}
