import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileRecord, SessionRecord } from '@convoke/contract';
import { beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { readEntries } from '../../src/confined-fs/folder-entries.ts';
import type { TakeOutput } from '../../src/ports/session-folders.ts';
import { offerOutputs } from '../../src/session-folders/outputs.ts';
import { temporaryFolder } from '../support/agent-folders.ts';
import { openSession, runIn, startRun } from '../support/api-steps.ts';
import { quietLog } from '../support/quiet-log.ts';
import { type TestServer, startServer } from '../support/server.ts';

/** Agents whose prompt is the shell command they run. */
const shell = {
  framework: 'stdio',
  command: [
    'sh',
    '-c',
    'read -r start; eval "$(printf %s "$start" | node -p "JSON.parse(require(\'fs\').readFileSync(0)).input.prompt")"',
  ],
};
let server: TestServer;

beforeAll(async () => {
  requireSandbox();
  server = await startServer({
    agents: {
      shell: { ...shell, session_files: true },
      keeper: { ...shell, session_files: true, env: { API_KEY: '${env:OUTPUTS_TEST_KEY}' } },
      closed: shell,
    },
    env: { CONVOKE_MAX_FILE_BYTES: '1000' },
  });
});

test('files that an agent writes under outputs/ can be listed and downloaded after the run', async () => {
  const session = await openSession(server, 'shell');
  await run(
    session,
    'mkdir -p outputs/charts; echo hello > outputs/report.md; printf PNG > outputs/charts/q1.png; echo x > elsewhere.txt',
  );
  const files = await filesOf(session);
  const seen = files.map((file) => [file.name, file.content_type, file.size_bytes, file.status]);
  expect(seen.map(String).sort()).toEqual([
    'charts-q1.png,image/png,3,ready',
    'report.md,text/markdown,6,ready',
  ]);
  const report = files.find(({ name }) => name === 'report.md');
  expect(await download(session, report)).toBe('hello\n');
});

test('an unchanged output is not taken again; a changed one becomes a new file and the old one stays (D-41)', async () => {
  const session = await openSession(server, 'shell');
  await run(session, 'mkdir -p outputs; echo one > outputs/a.txt; echo same > outputs/b.txt');
  await run(session, 'true');
  expect(await namesOf(session)).toEqual(['a.txt', 'b.txt']);
  await run(session, 'echo two > outputs/a.txt');
  const files = await filesOf(session);
  expect(files.map(({ name }) => name).sort()).toEqual(['a.txt', 'a.txt', 'b.txt']);
  const texts = await Promise.all(
    files.filter(({ name }) => name === 'a.txt').map((file) => download(session, file)),
  );
  expect(texts.sort()).toEqual(['one\n', 'two\n']);
});

test('a file taken from outputs/ is not placed under files/, and stays deleted once deleted', async () => {
  const session = await openSession(server, 'shell');
  await run(session, 'mkdir -p outputs; echo mine > outputs/a.txt');
  const [file] = await filesOf(session);
  await server.send('delete_file', { params: { session_id: session.id, file_id: file?.id ?? '' } });
  const { output_text: text } = await run(session, 'ls files 2>&1; echo b > outputs/b.txt');
  expect(text).toContain('No such file');
  expect(await namesOf(session)).toEqual(['b.txt']);
});

test('an output is not taken twice when the manifest is lost', async () => {
  const session = await openSession(server, 'shell');
  await run(session, 'mkdir -p outputs; echo mine > outputs/a.txt');
  await server.stop();
  await rm(`${sessionFolderOf(session)}.json`);
  server = await server.restart();
  await run(session, 'true');
  expect(await namesOf(session)).toEqual(['a.txt']);
});

test('a secret of the agent does not become the name of a file', async () => {
  process.env['OUTPUTS_TEST_KEY'] = 'correct-horse-battery';
  const session = await openSession(server, 'keeper');
  await run(session, 'mkdir -p outputs; echo x > "outputs/key-$API_KEY.txt"');
  delete process.env['OUTPUTS_TEST_KEY'];
  expect(await namesOf(session)).toEqual(['key-[secret].txt']);
});

test('links, pipes, invalid names and files that are too large are skipped', async () => {
  const session = await openSession(server, 'shell');
  await run(
    session,
    `mkdir -p outputs/real; cd outputs; ln -s /etc/passwd leak.txt; ln -s ../../.. up; ln -s real linked
     mkfifo pipe; touch "$(printf 'new\\nline')"; head -c 1001 /dev/zero > large.bin; echo ok > real/fine.txt`,
  );
  expect(await namesOf(session)).toEqual(['real-fine.txt']);
});

test('an outputs folder that is a link is not followed', async () => {
  const session = await openSession(server, 'shell');
  await run(session, 'mkdir files; echo x > files/a.txt; ln -s files outputs');
  expect(await namesOf(session)).toEqual([]);
});

test('files that are too large do not keep the others from being taken', async () => {
  const session = await openSession(server, 'shell');
  await run(
    session,
    `mkdir -p outputs; cd outputs; truncate -s 2G a-huge.bin; echo small > z.txt
     for i in $(seq 1 110); do truncate -s 1001 b-large-$i.bin; done`,
  );
  expect(await namesOf(session)).toEqual(['z.txt']);
});

test('no more names are read than the bound, however many files there are', async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, 'outputs'));
  for (let i = 0; i < 60; i += 1) await writeFile(join(root, 'outputs', `${i}`), 'x');
  const offered: string[] = [];
  const take: TakeOutput = async ({ path }) => {
    offered.push(path);
    return undefined;
  };
  await offerOutputs(root, new Map(), { take, log: quietLog, namesMax: 50 });
  expect(offered).toHaveLength(50);
  expect(offered).toEqual(offered.toSorted());
  expect(await readEntries(join(root, 'outputs'), 7)).toHaveLength(7);
});

test('at most a hundred files are taken after one leg, and the rest after the next', async () => {
  const session = await openSession(server, 'shell');
  await run(session, 'mkdir outputs; for i in $(seq 1 120); do echo $i > outputs/$i.txt; done');
  expect((await filesOf(session)).length).toBe(100);
  await run(session, 'true');
  expect((await filesOf(session)).length).toBe(120);
});

test('the outputs of a failed run are taken', async () => {
  const session = await openSession(server, 'shell');
  await run(session, 'mkdir outputs; echo half > outputs/half.txt; exit 3', 'failed');
  expect(await namesOf(session)).toEqual(['half.txt']);
});

test('a session without files keeps its outputs in its session folder', async () => {
  const session = await openSession(server, 'closed');
  await run(session, 'mkdir outputs; echo x > outputs/a.txt');
  expect(existsSync(join(sessionFolderOf(session), 'outputs/a.txt'))).toBe(true);
  const refused = await server.refused('list_files', { params: { session_id: session.id } });
  expect(refused.error).toBe('files_unavailable');
});

async function run(
  session: SessionRecord,
  command: string,
  status: 'completed' | 'failed' = 'completed',
) {
  return runIn(server, await startRun(server, session, command), status);
}

function sessionFolderOf(session: SessionRecord): string {
  return join(server.config.dataDir, 'workspaces', server.quickstart.tenant_id, session.id);
}

async function filesOf(session: SessionRecord): Promise<FileRecord[]> {
  const files: FileRecord[] = [];
  let cursor: string | undefined;
  do {
    const query: Record<string, string> =
      cursor === undefined ? { limit: '100' } : { limit: '100', cursor };
    const { body } = await server.send('list_files', { params: { session_id: session.id }, query });
    files.push(...body.files);
    cursor = body.next_cursor;
  } while (cursor !== undefined);
  return files;
}

async function namesOf(session: SessionRecord): Promise<string[]> {
  return (await filesOf(session)).map(({ name }) => name).sort();
}

async function download(session: SessionRecord, file: FileRecord | undefined): Promise<string> {
  const params = { session_id: session.id, file_id: file?.id ?? '' };
  return (await server.send('download_file', { params })).text;
}
