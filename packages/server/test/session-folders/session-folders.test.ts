import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileId, sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../src/domain/agent.ts';
import type { PrepareFolder, AttachedFile } from '../../src/ports/session-folders.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { agentOf, recordingLog, temporaryFolder, writeFiles } from '../support/agent-folders.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** An agent with its folder, a data folder, and a session that can be prepared repeatedly. */
async function setUp(files: Record<string, string>, parts: Partial<Agent> = {}) {
  const [folder, dataDir] = [await temporaryFolder(), await temporaryFolder()];
  await writeFiles(folder, files);
  const log = recordingLog();
  let sessionFolders = openSessionFolders({ dataDir, log });
  let agent = agentOf({ folder, ...parts });
  let expected = false;
  return {
    folder,
    dataDir,
    log,
    sessionFolder: join(dataDir, 'workspaces/ten_1/sess_1'),
    /** The registry reads the agent's folder again. */
    reread: (changed: Partial<Agent> = {}) => {
      agent = { ...agent, ...changed };
    },
    restart: () => {
      sessionFolders = openSessionFolders({ dataDir, log });
    },
    remove: () => sessionFolders.remove(tenantId('ten_1'), sessionId('sess_1')),
    async prepare(request: Partial<PrepareFolder> = {}) {
      const ids = { tenantId: tenantId('ten_1'), sessionId: sessionId('sess_1') };
      const prepared = await sessionFolders.prepare({
        ...ids,
        agent,
        expected,
        files: [],
        ...request,
      });
      expected = true;
      if (!prepared.found) throw new Error('the session folder is lost');
      return prepared;
    },
  };
}

const textIn = (...path: string[]) => readFile(join(...path), 'utf8');
const isMissing = (...path: string[]) => expect(stat(join(...path))).rejects.toThrow('ENOENT');

function upload(id: string, name: string, text: string): AttachedFile & { opened: number } {
  return {
    id: fileId(id),
    name,
    sha256: sha256(text),
    opened: 0,
    async open() {
      this.opened += 1;
      return (async function* () {
        for (const part of text.split('')) yield Buffer.from(part);
      })();
    },
  };
}

describe('a session folder', () => {
  test('has a separate HOME, and both are closed to other users', async () => {
    const session = await setUp({});
    const { sessionFolder, stateDir } = await session.prepare();
    expect(sessionFolder).toBe(session.sessionFolder);
    expect(stateDir).toBe(join(session.dataDir, 'workspaces/ten_1/sess_1.home'));
    for (const folder of [sessionFolder, stateDir])
      expect((await stat(folder)).mode & 0o077).toBe(0);
  });

  test('has no HOME when its framework uses none', async () => {
    const dataDir = await temporaryFolder();
    const withoutHome = new Set(['scripted']);
    const sessionFolders = openSessionFolders({ dataDir, log: recordingLog(), withoutHome });
    const ids = { tenantId: tenantId('ten_1'), sessionId: sessionId('sess_1') };
    await sessionFolders.prepare({ ...ids, agent: agentOf({}), expected: false, files: [] });
    expect(await readdir(join(dataDir, 'workspaces/ten_1'))).toEqual(['sess_1']);
  });

  test('is reported as lost when an earlier leg made it and it is missing (D-14)', async () => {
    const session = await setUp({});
    await session.prepare();
    await rm(session.sessionFolder, { recursive: true });
    await expect(session.prepare()).rejects.toThrow('the session folder is lost');
    await isMissing(session.sessionFolder);
  });

  test('is removed without touching the targets of links in it', async () => {
    const session = await setUp({ 'workspace/a.txt': 'a' });
    const outside = await temporaryFolder();
    await writeFile(join(outside, 'kept'), 'kept');
    await session.prepare();
    await symlink(outside, join(session.sessionFolder, 'link'));
    await session.remove();
    expect(await readdir(join(session.dataDir, 'workspaces/ten_1'))).toEqual([]);
    expect(await textIn(outside, 'kept')).toBe('kept');
    await session.remove();
  });

  test('cannot be outside the data folder', async () => {
    const session = await setUp({});
    await expect(session.prepare({ sessionId: sessionId('../x') })).rejects.toThrow('not an id');
    await expect(session.prepare({ tenantId: tenantId('..') })).rejects.toThrow('not an id');
  });
});

describe('seed files', () => {
  test('are copied on first use: regular files, executable bits, no links', async () => {
    const session = await setUp({
      'workspace/AGENTS.md': 'be kind',
      'workspace/bin/tool.sh': '#!',
    });
    await chmod(join(session.folder, 'workspace/bin/tool.sh'), 0o755);
    await symlink('AGENTS.md', join(session.folder, 'workspace/link.md'));
    await symlink('/etc', join(session.folder, 'workspace/etc'));
    await session.prepare();
    expect(await textIn(session.sessionFolder, 'AGENTS.md')).toBe('be kind');
    expect((await stat(join(session.sessionFolder, 'bin/tool.sh'))).mode & 0o100).toBe(0o100);
    expect((await readdir(session.sessionFolder)).sort()).toEqual(['AGENTS.md', 'bin']);
  });

  test.each(['in one process', 'over a restart'])(
    'follow their source, unless the session changed or deleted them: %s',
    async (how) => {
      const session = await setUp({
        'workspace/follows.txt': '1',
        'workspace/edited.txt': '1',
        'workspace/deleted.txt': '1',
        'workspace/withdrawn.txt': '1',
        'workspace/kept.txt': '1',
      });
      await session.prepare();
      await writeFile(join(session.sessionFolder, 'edited.txt'), 'mine');
      await writeFile(join(session.sessionFolder, 'kept.txt'), 'mine');
      await writeFile(join(session.sessionFolder, 'added.txt'), 'mine');
      await rm(join(session.sessionFolder, 'deleted.txt'));
      for (const name of ['follows', 'edited', 'deleted', 'added', 'new']) {
        await writeFiles(session.folder, { [`workspace/${name}.txt`]: '2' });
      }
      await rm(join(session.folder, 'workspace/withdrawn.txt'));
      await rm(join(session.folder, 'workspace/kept.txt'));
      if (how === 'over a restart') session.restart();
      session.reread();
      await session.prepare();
      const now = Object.fromEntries(
        await Promise.all(
          (await readdir(session.sessionFolder)).map(async (name) => [
            name,
            await textIn(session.sessionFolder, name),
          ]),
        ),
      );
      expect(now).toEqual({
        'added.txt': 'mine',
        'edited.txt': 'mine',
        'follows.txt': '2',
        'kept.txt': 'mine',
        'new.txt': '2',
      });
    },
  );

  test('stay as the session left them when the source did not change', async () => {
    const session = await setUp({ 'workspace/a.txt': '1', 'workspace/b.txt': '1' });
    await session.prepare();
    await writeFile(join(session.sessionFolder, 'a.txt'), 'mine');
    await rm(join(session.sessionFolder, 'b.txt'));
    session.restart();
    session.reread();
    await session.prepare();
    expect(await textIn(session.sessionFolder, 'a.txt')).toBe('mine');
    await isMissing(session.sessionFolder, 'b.txt');
  });

  test('overwrite nothing when the manifest is lost or damaged', async () => {
    for (const damage of ['', '{"seeds": [', '{}']) {
      const session = await setUp({ 'workspace/a.txt': '1' });
      await session.prepare();
      await writeFile(join(session.sessionFolder, 'a.txt'), 'mine');
      await writeFile(join(session.dataDir, 'workspaces/ten_1/sess_1.json'), damage);
      await writeFiles(session.folder, { 'workspace/a.txt': '2', 'workspace/b.txt': '2' });
      session.restart();
      session.reread();
      await session.prepare();
      expect(await textIn(session.sessionFolder, 'a.txt')).toBe('mine');
      expect(await textIn(session.sessionFolder, 'b.txt')).toBe('2');
    }
  });

  test('are never written through a link that the agent planted', async () => {
    const session = await setUp({ 'workspace/deep/a.txt': '1', 'workspace/b.txt': '1' });
    const outside = await temporaryFolder();
    await writeFiles(outside, { 'a.txt': '1', 'b.txt': '1' });
    await session.prepare();
    await rm(join(session.sessionFolder, 'deep'), { recursive: true });
    await symlink(outside, join(session.sessionFolder, 'deep'));
    await rm(join(session.sessionFolder, 'b.txt'));
    await symlink(join(outside, 'b.txt'), join(session.sessionFolder, 'b.txt'));
    await writeFiles(session.folder, {
      'workspace/deep/a.txt': '2',
      'workspace/deep/new.txt': '2',
      'workspace/b.txt': '2',
    });
    session.reread();
    await session.prepare();
    expect((await readdir(outside)).sort()).toEqual(['a.txt', 'b.txt']);
    for (const name of ['a.txt', 'b.txt']) expect(await textIn(outside, name)).toBe('1');
  });

  test('leave out CLAUDE.md at every depth unless the agent enables it', async () => {
    const files = {
      'workspace/CLAUDE.md': 'root',
      'workspace/deep/CLAUDE.md': 'deep',
      'workspace/deep/a': 'a',
    };
    const session = await setUp(files);
    expect(await session.prepare()).not.toHaveProperty('claudeMd');
    await isMissing(session.sessionFolder, 'CLAUDE.md');
    await isMissing(session.sessionFolder, 'deep/CLAUDE.md');
    session.reread({ enableClaudeMd: true });
    const { claudeMd } = await session.prepare();
    expect(claudeMd).toEqual({ path: 'CLAUDE.md', sha256: sha256('root'), sizeBytes: 4 });
    session.reread({ enableClaudeMd: false });
    await session.prepare();
    await isMissing(session.sessionFolder, 'CLAUDE.md');
  });
});

describe('context files', () => {
  test("are digested as they are in the session folder, not in the agent's", async () => {
    const session = await setUp(
      { 'workspace/docs/STYLE.md': 'é' },
      { contextFiles: ['docs/STYLE.md'] },
    );
    const first = await session.prepare();
    expect(first.contextFiles).toEqual([
      { path: 'docs/STYLE.md', sha256: sha256('é'), sizeBytes: 2 },
    ]);
    await writeFile(join(session.sessionFolder, 'docs/STYLE.md'), 'changed');
    const second = await session.prepare();
    expect(second.contextFiles).toEqual([
      { path: 'docs/STYLE.md', sha256: sha256('changed'), sizeBytes: 7 },
    ]);
  });

  test('that are missing, links or too large are left out, with one warning each', async () => {
    const contextFiles = ['missing.md', 'link.md', 'large.md', 'folder'];
    const session = await setUp(
      { 'workspace/large.md': 'x'.repeat(1024 * 1024 + 1) },
      { contextFiles },
    );
    await session.prepare();
    await symlink('/etc/passwd', join(session.sessionFolder, 'link.md'));
    await mkdir(join(session.sessionFolder, 'folder'));
    expect((await session.prepare()).contextFiles).toEqual([]);
    expect((await session.prepare()).contextFiles).toEqual([]);
    const warned = session.log.warnings.map(({ fields }) => String(fields?.['path']));
    expect(warned.toSorted()).toEqual(contextFiles.toSorted());
  });
});

describe('session files', () => {
  test('are placed under files/ once, and again only when they change (D-43)', async () => {
    const session = await setUp({});
    const [one, two] = [upload('file_1', 'a.txt', 'one'), upload('file_2', 'b b.txt', 'two')];
    await session.prepare({ files: [one, two] });
    expect(await textIn(session.sessionFolder, 'files/a.txt')).toBe('one');
    expect(await textIn(session.sessionFolder, 'files/b b.txt')).toBe('two');
    await writeFile(join(session.sessionFolder, 'files/a.txt'), 'edited by the agent');
    session.restart();
    await session.prepare({ files: [one, two, upload('file_3', 'c.txt', 'three')] });
    expect(await textIn(session.sessionFolder, 'files/a.txt')).toBe('edited by the agent');
    expect(await textIn(session.sessionFolder, 'files/c.txt')).toBe('three');
    expect([one.opened, two.opened]).toEqual([1, 1]);
  });

  test('of the same name get different names, and keep them when one is deleted', async () => {
    const session = await setUp({});
    const [one, two] = [upload('file_1', 'a.txt', 'one'), upload('file_2', 'a.txt', 'two')];
    await session.prepare({ files: [one, two] });
    expect(await textIn(session.sessionFolder, 'files/a.txt')).toBe('one');
    expect(await textIn(session.sessionFolder, 'files/file_2-a.txt')).toBe('two');
    await session.prepare({ files: [two] });
    expect(await readdir(join(session.sessionFolder, 'files'))).toEqual(['file_2-a.txt']);
    await session.prepare({ files: [two, upload('file_3', 'a.txt', 'three')] });
    expect((await readdir(join(session.sessionFolder, 'files'))).sort()).toEqual([
      'a.txt',
      'file_2-a.txt',
    ]);
    await session.prepare({ files: [] });
    expect(await readdir(join(session.sessionFolder, 'files'))).toEqual([]);
  });

  test('are placed under files/ even if the agent made links or folders of those names', async () => {
    const session = await setUp({});
    const outside = await temporaryFolder();
    await session.prepare();
    await symlink(outside, join(session.sessionFolder, 'files'));
    await session.prepare({ files: [upload('file_1', 'a.txt', 'one')] });
    expect(await readdir(outside)).toEqual([]);
    expect(await textIn(session.sessionFolder, 'files/a.txt')).toBe('one');

    await mkdir(join(session.sessionFolder, 'files/b.txt/deep'), { recursive: true });
    await symlink(join(outside, 'c.txt'), join(session.sessionFolder, 'files/c.txt'));
    const files = [
      upload('file_1', 'a.txt', 'one'),
      upload('file_2', 'b.txt', 'two'),
      upload('file_3', 'c.txt', 'three'),
    ];
    await session.prepare({ files });
    expect(await textIn(session.sessionFolder, 'files/file_2-b.txt')).toBe('two');
    expect(await textIn(session.sessionFolder, 'files/c.txt')).toBe('three');
    expect(await readdir(outside)).toEqual([]);
  });

  test('with names too long for the disk are shortened and keep their extension', async () => {
    const session = await setUp({});
    const name = `${'é'.repeat(250)}.txt`;
    await session.prepare({
      files: [upload('file_1', name, 'one'), upload('file_2', name, 'two')],
    });
    const placed = (await readdir(join(session.sessionFolder, 'files'))).sort();
    expect(placed).toHaveLength(2);
    for (const each of placed) expect(each.endsWith('.txt')).toBe(true);
    expect(await textIn(session.sessionFolder, 'files', placed[0] ?? '')).toBe('two');
  });

  const broken: AttachedFile = {
    ...upload('file_1', 'a.txt', 'one'),
    open: async () =>
      (async function* () {
        yield Buffer.from('o');
        throw new Error('storage away');
      })(),
  };

  test('that were placed before a failure are removed with their session file, like others', async () => {
    const session = await setUp({});
    await session.prepare();
    const placed = upload('file_0', 'b.txt', 'two');
    await expect(session.prepare({ files: [placed, broken] })).rejects.toThrow('storage away');
    expect(await readdir(join(session.sessionFolder, 'files'))).toEqual(['b.txt']);
    await session.prepare({ files: [upload('file_1', 'a.txt', 'one')] });
    expect(await readdir(join(session.sessionFolder, 'files'))).toEqual(['a.txt']);
  });

  test('whose content cannot be read fail the preparation, and are placed on the next attempt', async () => {
    const session = await setUp({ 'workspace/a.txt': 'seed' });
    await expect(session.prepare({ files: [broken] })).rejects.toThrow('storage away');
    expect(await readdir(join(session.sessionFolder, 'files'))).toEqual([]);
    await session.prepare({ files: [upload('file_1', 'a.txt', 'one')] });
    expect(await textIn(session.sessionFolder, 'files/a.txt')).toBe('one');
  });
});
