import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type OpenAgents, openAgents } from '../../src/agents/registry.ts';
import { readScript } from '../../src/harness/scripted/script.ts';
import type { Agents } from '../../src/ports/agents.ts';
import type { PreparedAgent } from '../../src/ports/harness.ts';
import { recordingLog, temporaryFolder, writeFiles } from '../support/agent-folders.ts';
import { eventually } from '../support/eventually.ts';

const echo = 'framework: scripted\nscript:\n  - say: "{{prompt}}"\n';

async function open(folder: string, options: Partial<OpenAgents> = {}) {
  const log = recordingLog();
  const harnesses = new Map([['scripted', { read: readScript }]]);
  const agents = await openAgents({ folder, harnesses, log, ...options });
  onTestFinished(() => agents.close());
  return { agents, log };
}

function reasonOf(agents: Agents, name: string) {
  return agents.problems().find(({ folder }) => folder === name)?.reason;
}

describe('reading agent folders', () => {
  test('a broken folder is reported and does not affect others', async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, {
      'good/agent.yaml': echo,
      'broken/agent.yaml': 'framework: [scripted',
      'empty/README.md': 'nothing here',
      'README.md': 'a file among the folders is not an agent',
      '.git/agent.yaml': 'hidden folders are not agents',
      'node_modules/thing/index.js': 'packages are not agents',
    });
    const { agents, log } = await open(folder);
    expect(agents.all().map(({ name }) => name)).toEqual(['good']);
    expect(agents.problems().map((problem) => problem.folder)).toEqual(['broken', 'empty']);
    expect(reasonOf(agents, 'empty')).toMatch(/^agent\.yaml is missing: write it/);
    expect(log.warnings.map(({ fields }) => fields?.['folder'])).toEqual(['broken', 'empty']);
  });

  test('a missing agents folder is reported as one problem', async () => {
    const folder = join(await temporaryFolder(), 'absent');
    const { agents } = await open(folder);
    expect(agents.all()).toEqual([]);
    expect(agents.problems()).toHaveLength(1);
    expect(agents.problems()[0]?.reason).toContain('CONVOKE_AGENTS_DIR');
  });

  test('at most 1,000 agents are read, and the excess is reported', async () => {
    const folder = await temporaryFolder();
    const names = Array.from({ length: 1003 }, (_, index) => `a${String(index).padStart(4, '0')}`);
    for (const name of names) await writeFiles(folder, { [`${name}/agent.yaml`]: echo });
    const { agents } = await open(folder, { watch: false });
    expect(agents.all()).toHaveLength(1000);
    expect(agents.find('a1000')).toBeUndefined();
    expect(agents.problems()).toEqual([{ folder, reason: expect.stringContaining('1003') }]);
  });

  test('an agent may be linked into the agents folder from elsewhere', async () => {
    const [folder, elsewhere] = [await temporaryFolder(), await temporaryFolder()];
    await writeFiles(elsewhere, { 'agent.yaml': echo });
    await symlink(elsewhere, join(folder, 'linked'));
    const { agents } = await open(folder);
    expect(agents.find('linked')?.folder).toBe(elsewhere);
  });
});

test('a folder whose program could not be loaded in time is read again, after longer and longer pauses', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'slow/agent.yaml': echo, 'bad/agent.yaml': echo });
  let [now, isQuick] = [0, false];
  const attempts: number[] = [];
  const harness = {
    read: readScript,
    prepare: async ({ name }: { name: string }): Promise<PreparedAgent> => {
      if (name === 'bad') return { ok: false, problem: 'is wrong' };
      attempts.push(now);
      return isQuick
        ? { ok: true, digest: '' }
        : { ok: false, problem: 'is slow', isTransient: true };
    },
  };
  const harnesses = new Map([['scripted', harness]]);
  const { agents } = await open(folder, { harnesses, watch: false, pollMs: 5, now: () => now });
  expect([reasonOf(agents, 'slow'), reasonOf(agents, 'bad')]).toEqual(['is slow', 'is wrong']);
  for (const at of [29_999, 30_000, 89_999, 90_000, 100_000]) {
    const expected = attempts.length + (at === 30_000 || at === 90_000 ? 1 : 0);
    now = at;
    await eventually(() => attempts.length === expected);
  }
  [now, isQuick] = [24 * 3_600_000, true];
  await eventually(() => agents.find('slow') !== undefined);
  expect(attempts).toEqual([0, 30_000, 90_000, now]);
});

describe('an agent that takes long to load', () => {
  /** Reads `slow…` agents when the test says so. */
  async function openSlow(files: Readonly<Record<string, string>>) {
    const folder = await temporaryFolder();
    await writeFiles(folder, { 'first/agent.yaml': echo });
    const loads: ((prepared: PreparedAgent) => void)[] = [];
    const prepare = async ({ name }: { name: string }): Promise<PreparedAgent> => {
      if (!name.startsWith('slow')) return { ok: true, digest: '' };
      return new Promise((resolve) => loads.push(resolve));
    };
    const harnesses = new Map([['scripted', { read: readScript, prepare }]]);
    const { agents } = await open(folder, { harnesses, watch: false, pollMs: 5, patienceMs: 5 });
    // A registry that waits for one of them could not be closed.
    onTestFinished(() => loads.forEach((load) => load({ ok: true, digest: '' })));
    await writeFiles(folder, files);
    return { folder, agents, loads, named: () => agents.all().map(({ name }) => name) };
  }

  test('delays none that comes with it or later, and is listed when it has loaded (D-427)', async () => {
    const slow = await openSlow({ 'a-second/agent.yaml': echo, 'slow/agent.yaml': echo });
    const { folder, agents, loads, named } = slow;
    await eventually(() => loads.length === 1 && agents.find('a-second') !== undefined);
    await writeFiles(folder, { 'third/agent.yaml': echo });
    await eventually(() => agents.find('third') !== undefined);
    expect([named(), agents.problems(), loads.length]).toEqual([
      ['a-second', 'first', 'third'],
      [],
      1,
    ]);
    loads[0]?.({ ok: true, digest: 'loaded' });
    await eventually(() => agents.find('slow') !== undefined);
    expect(named()).toEqual(['a-second', 'first', 'slow', 'third']);
    expect(loads).toHaveLength(1);
  });

  test('is read again when it was edited in between; until then its last reading holds', async () => {
    const { folder, agents, loads } = await openSlow({ 'slow/agent.yaml': echo });
    await eventually(() => loads.length === 1);
    await appendFile(join(folder, 'slow/agent.yaml'), 'description: Edited\n');
    await writeFiles(folder, { 'third/agent.yaml': echo });
    await eventually(() => agents.find('third') !== undefined);
    loads[0]?.({ ok: true, digest: 'before the edit' });
    await eventually(() => loads.length === 2);
    expect(agents.find('slow')).toBeUndefined();
    loads[1]?.({ ok: true, digest: 'after the edit' });
    await eventually(() => agents.find('slow')?.description === 'Edited');
    await appendFile(join(folder, 'slow/agent.yaml'), 'name: slow\n');
    await eventually(() => loads.length === 3);
    expect(agents.find('slow')?.description).toBe('Edited');
    loads[2]?.({ ok: false, problem: 'is wrong' });
    await eventually(() => reasonOf(agents, 'slow') === 'is wrong');
  });

  test('is forgotten with its folder', async () => {
    const { folder, agents, loads, named } = await openSlow({ 'slow/agent.yaml': echo });
    await eventually(() => loads.length === 1);
    await rm(join(folder, 'slow'), { recursive: true });
    loads[0]?.({ ok: true, digest: '' });
    await writeFiles(folder, { 'third/agent.yaml': echo });
    await eventually(() => agents.find('third') !== undefined);
    expect(named()).toEqual(['first', 'third']);
  });

  test('sixteen such agents at once still leave room for others', async () => {
    const names = Array.from({ length: 16 }, (_, index) => `slow-${index}/agent.yaml`);
    const files = Object.fromEntries(names.map((name) => [name, echo]));
    const { folder, agents, loads } = await openSlow(files);
    await eventually(() => loads.length === 16);
    await writeFiles(folder, { 'third/agent.yaml': echo });
    await eventually(() => agents.find('third') !== undefined);
    expect(agents.all()).toHaveLength(2);
    for (const load of loads) load({ ok: true, digest: '' });
    await eventually(() => agents.all().length === 18);
  });
});

describe.each([
  { how: 'reported by the watcher', options: { pollMs: 3_600_000 } },
  { how: 'found by polling alone', options: { watch: false, pollMs: 20 } },
])('changes $how', ({ options }) => {
  const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

  test('an added, an edited and a removed agent show without a restart', async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, { 'one/agent.yaml': echo, 'two/agent.yaml': echo });
    const { agents, log } = await open(folder, options);
    const untouched = agents.find('two');
    await writeFiles(folder, { 'three/agent.yaml': echo });
    await soon(() => expect(agents.find('three')).toBeDefined());
    await appendFile(join(folder, 'one/agent.yaml'), 'description: Edited\n');
    await soon(() => expect(agents.find('one')?.description).toBe('Edited'));
    await rm(join(folder, 'three'), { recursive: true });
    await soon(() => expect(agents.find('three')).toBeUndefined());
    expect(agents.find('two')).toBe(untouched);
    const expected = ['agent three loaded', 'agent one reloaded', 'agent three removed'];
    expect(log.infos).toEqual(expect.arrayContaining(expected));
  });

  test('a folder has a second for its agent.yaml before it is called broken', async () => {
    const folder = await temporaryFolder();
    let time = 0;
    const { agents, log } = await open(folder, { ...options, now: () => time });
    await mkdir(join(folder, 'new'));
    await mkdir(join(folder, 'unfinished'));
    // Listed behind the others, so they have been seen when it is.
    await writeFiles(folder, { 'zero/agent.yaml': echo });
    await soon(() => expect(agents.find('zero')).toBeDefined());
    await writeFiles(folder, { 'new/agent.yaml': echo });
    await soon(() => expect(agents.find('new')).toBeDefined());
    expect(log.warnings).toEqual([]);
    expect(agents.problems()).toEqual([]);
    time = 1000;
    await soon(() => expect(reasonOf(agents, 'unfinished')).toContain('agent.yaml is missing'));
    expect(log.warnings.map(({ fields }) => fields?.['folder'])).toEqual(['unfinished']);
  });

  test('an agent with a broken edit is reported and no longer listed, until it is fixed', async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, { 'one/agent.yaml': echo, 'two/agent.yaml': echo });
    const { agents, log } = await open(folder, options);
    await writeFiles(folder, { 'one/agent.yaml': `${echo}tools: 7\n` });
    await soon(() => expect(reasonOf(agents, 'one')).toContain('tools'));
    expect(agents.all().map(({ name }) => name)).toEqual(['two']);
    expect(log.warnings).toHaveLength(1);
    await writeFiles(folder, { 'one/agent.yaml': echo });
    await soon(() => expect(agents.find('one')).toBeDefined());
    expect(agents.problems()).toEqual([]);
  });

  test('a changed seed file or skill gives a new agent object, so that sessions get the file', async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, { 'one/agent.yaml': echo, 'one/workspace/deep/seed.txt': 'a' });
    const { agents } = await open(folder, options);
    const before = agents.find('one');
    await writeFile(join(folder, 'one/workspace/deep/seed.txt'), 'b');
    await soon(() => expect(agents.find('one')).not.toBe(before));
    const after = agents.find('one');
    // What sessions start with is part of the version (D-574).
    expect(after?.digest).not.toBe(before?.digest);
    expect({ ...after, facts: before?.facts, digest: before?.digest }).toEqual(before);
  });

  test('an agents folder that is created later is found', async () => {
    const parent = await temporaryFolder();
    const { agents } = await open(join(parent, 'agents'), { ...options, pollMs: 20 });
    await writeFiles(parent, { 'draft/one/agent.yaml': echo });
    await rename(join(parent, 'draft'), join(parent, 'agents'));
    await soon(() => expect(agents.find('one')).toBeDefined());
    expect(agents.problems()).toEqual([]);
  });
});

test('a caller keeps a consistent snapshot while a newer one replaces it', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'one/agent.yaml': echo });
  const { agents } = await open(folder, { watch: false, pollMs: 20 });
  const held = agents.all();
  await writeFiles(folder, { 'two/agent.yaml': echo });
  await vi.waitFor(() => expect(agents.all()).toHaveLength(2), { timeout: 60_000, interval: 10 });
  expect(held.map(({ name }) => name)).toEqual(['one']);
});

test('settings are read again only after an edit, and a holder of the old agent keeps the old ones', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'one/agent.yaml': echo, 'two/agent.yaml': echo });
  const read = vi.fn<typeof readScript>(readScript);
  const harnesses = new Map([['scripted', { read }]]);
  const { agents } = await open(folder, { harnesses, watch: false, pollMs: 20 });
  const before = agents.find('one');
  expect(before?.settings).toMatchObject({ steps: [{ text: '{{prompt}}' }] });
  await writeFiles(folder, { 'one/agent.yaml': echo.replace('{{prompt}}', 'new') });
  const edited = { steps: [{ text: 'new' }] };
  await vi.waitFor(() => expect(agents.find('one')?.settings).toMatchObject(edited), {
    timeout: 60_000,
    interval: 10,
  });
  expect(before?.settings).toMatchObject({ steps: [{ text: '{{prompt}}' }] });
  expect(read.mock.calls.filter(([{ name }]) => name === 'two')).toHaveLength(1);
});

test('a closed registry no longer reads folders', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'one/agent.yaml': echo });
  const { agents } = await open(folder, { pollMs: 10 });
  const { agents: witness } = await open(folder, { pollMs: 10 });
  await agents.close();
  await writeFiles(folder, { 'two/agent.yaml': echo });
  await vi.waitFor(() => expect(witness.find('two')).toBeDefined(), {
    timeout: 60_000,
    interval: 10,
  });
  expect(agents.find('two')).toBeUndefined();
});
