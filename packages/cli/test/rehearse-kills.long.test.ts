import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root, textOf } from '../../../test/repository.ts';
import { requireSandbox } from '../../../test/services.ts';
import { writeAgents } from './agent-programs.ts';
import { type CommandLine, type Ended, createCommandLine } from './command-line.ts';

/** A rehearsal with kills starts dozens of processes. */
vi.setConfig({ testTimeout: 600_000 });

let convoke: CommandLine;
let folder: Awaited<ReturnType<typeof openProgramFolder>>;
beforeAll(async () => {
  requireSandbox();
  folder = await openProgramFolder(root);
  convoke = await createCommandLine(folder.path);
  await writeAgents(
    folder.path,
    'once',
    'clumsy',
    'forgetful',
    'ruled',
    'waits',
    'calls-twice',
    'script',
  );
});
afterAll(async () => {
  await convoke.remove();
  await folder[Symbol.asyncDispose]();
});

function rehearse(...args: readonly string[]): Promise<Ended> {
  return convoke.run(['agents', 'rehearse', ...args]);
}

test('killed at every line, a careful agent does nothing twice', async () => {
  const { stdout, stderr, code } = await rehearse(
    'once',
    'order 7',
    '--approve',
    'allow',
    '--kill',
  );
  expect(stdout).toContain('nothing was done twice, and the answer was the same each time');
  expect(stdout).toMatch(/in \d+ a call may have been carried out: tried with a yes and with a no/);
  expect(code).toBe(0);
  // A log shows progress.
  expect(stderr.match(/^try \d+ of \d+(, \d+ (s|min) left)?$/gm)?.length).toBeGreaterThan(3);
});

test('what rules ask about and deny is the same, wherever the process is killed', async () => {
  const { stdout, code } = await rehearse('ruled', '20 80 2000', '--approve', 'allow', '--kill');
  expect(stdout).toContain('nothing was done twice, and the answer was the same each time');
  expect(code).toBe(0);
});

test('the invoices of docs/guides/long-work.md get their message in every repetition', async () => {
  const fence = /^```\w+ (agents\/invoices\/\S+)\n(.*?)^```/gms;
  for (const [, path = '', text = ''] of textOf('docs/guides/long-work.md').matchAll(fence)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), text);
  }
  const paid = ['--signal', 'paid={"amount": 20}', '--kill'];
  const { stdout, code } = await rehearse('invoices', 'invoice 7', ...paid);
  // No reminder is in doubt, and nothing differs.
  expect(stdout).toMatch(
    /^Paid: 20\.\n\nkilled .*\nnothing was done twice, and the answer was the same each time\n$/,
  );
  expect(code).toBe(0);
});

test('what a run waits for comes one by one, and all of it at once', async () => {
  const { stdout, code } = await rehearse('waits', 'short', '--kill');
  expect(stdout).toContain('came one by one in half of the runs, and at once in the others');
  expect(stdout).toContain('nothing was done twice, and the answer was the same each time');
  expect(code).toBe(0);
});

test('a script waits in no real time, and continues wherever it is lost (D-927)', async () => {
  const comings = ['--signal', 'go="now"', '--call', 'researcher=Hard wood.'];
  const { stdout, stderr, code } = await rehearse('script', 'x', ...comings, '--kill');
  expect(stdout).toMatch(/^It said: Hard wood\.\n\nkilled before and after each of/);
  expect(stdout).toContain('nothing was done twice, and the answer was the same each time');
  const waited = ['(slept 3d: a pause)', '(message go)', '→ write_file', '(called researcher)'];
  for (const line of waited) expect(stderr).toContain(line);
  expect(code).toBe(0);
});

test('an agent that is called again after a loss is found', async () => {
  const { stdout, code } = await rehearse('calls-twice', 'x', '--kill');
  expect(stdout).toContain('"researcher" was called 2 times instead of 1');
  expect(code).toBe(1);
});

test('an effect outside a step runs twice, and is found by the file that it leaves', async () => {
  const { stdout, code } = await rehearse('clumsy', 'x', '--kill');
  expect(stdout).toContain('the content of ledger.txt differs');
  expect(stdout).toMatch(/killed before line 1 \(call_begin thank\)/);
  expect(code).toBe(1);
});

test('a person who is asked again after a loss is found, too', async () => {
  const answers = ['--answer', 'late', '--answer', 'late'];
  const { stdout, code } = await rehearse('forgetful', 'x', '--kill', ...answers);
  expect(stdout).toMatch(
    /a person was asked 2 times instead of 1: \{"kind":"question","question":"Why\?"/,
  );
  expect(code).toBe(1);
});
