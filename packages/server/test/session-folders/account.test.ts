import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileId, sessionId, tenantId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { writeConfined } from '../../src/confined-fs/files.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { agentOf, recordingLog, temporaryFolder, writeFiles } from '../support/agent-folders.ts';

test('every file placed into a session folder belongs to the account of the agent', async () => {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  const skill = '---\nname: greet\ndescription: Greets\n---\n';
  await writeFiles(folder, { 'workspace/docs/a.md': 'seed', 'skills/greet/SKILL.md': skill });
  const isRoot = process.getuid?.() === 0;
  const account = isRoot ? { uid: 61_777, gid: 61_778 } : undefined;
  const dataDir = await temporaryFolder();
  const prepared = await openSessionFolders({ dataDir, log: recordingLog(), account }).prepare({
    tenantId: tenantId('ten_1'),
    sessionId: sessionId('sess_1'),
    agent: agentOf({ framework: 'stdio', folder }),
    expected: false,
    files: [
      {
        id: fileId('file_1'),
        name: 'given.txt',
        sha256: 'x',
        open: async () => (async function* () {})(),
      },
    ],
  });
  if (!prepared.found) throw new Error('no session folder');
  const { sessionFolder, stateDir } = prepared;
  await writeConfined({ root: sessionFolder, path: 'made/by/a-tool.txt' }, [Buffer.from('x')]);

  const expected = account ?? { uid: process.getuid?.(), gid: process.getgid?.() };
  for (const path of [
    sessionFolder,
    stateDir,
    ...['docs', 'docs/a.md', 'files', 'files/given.txt', '.agents/skills/greet/SKILL.md'].map(
      (name) => join(sessionFolder, name),
    ),
    ...['made', 'made/by', 'made/by/a-tool.txt'].map((name) => join(sessionFolder, name)),
  ]) {
    const { uid, gid } = await stat(path);
    expect({ path, uid, gid }).toEqual({ path, ...expected });
  }
  // Only root can enter from outside.
  expect((await stat(join(dataDir, 'workspaces'))).mode & 0o077).toBe(0);
});

test('a session gets a HOME when its agent changes to a framework that needs one', async () => {
  const dataDir = await temporaryFolder();
  const withoutHome = new Set(['scripted']);
  const sessionFolders = openSessionFolders({ dataDir, log: recordingLog(), withoutHome });
  const owner = { tenantId: tenantId('ten_1'), sessionId: sessionId('sess_1'), files: [] };
  await sessionFolders.prepare({ ...owner, agent: agentOf({}), expected: false });
  const agent = agentOf({ framework: 'stdio' });
  const prepared = await sessionFolders.prepare({ ...owner, agent, expected: true });
  expect(prepared.found && (await stat(prepared.stateDir)).isDirectory()).toBe(true);
});
