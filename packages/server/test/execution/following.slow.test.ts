import { existsSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FileRecord,
  type RunRecord,
  type SessionRecord,
  organizationId,
  runId,
  sessionId,
  tenantId,
} from '@convoke/contract';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { isLeased } from '../../src/domain/run/run.ts';
import { claimLeg } from '../../src/execution/claim-leg.ts';
import { Dispatcher } from '../../src/execution/dispatcher.ts';
import { recoverRun } from '../../src/execution/recover-run.ts';
import {
  answer,
  begin,
  cancel,
  ended,
  eventsPath,
  logOf,
  openSession,
  pendingIn,
  runIn,
  startRun,
} from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { idleSlot } from '../support/idle-slot.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type S3Server, startS3 } from '../support/s3-server.ts';
import { type TestServer, startServer } from '../support/server.ts';

/** Its prompt is the shell command it runs. */
const shell = {
  framework: 'stdio',
  session_files: true,
  command: [
    'sh',
    '-c',
    'read -r start; eval "$(printf %s "$start" | node -p "JSON.parse(require(\'fs\').readFileSync(0)).input.prompt")"',
  ],
};
/** Writes its prompt to a file, asks a question, and reads the file back after the answer. */
const keeper = {
  script: [
    { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{prompt}}' } } },
    { ask: { question: 'Continue?' } },
    { tool: { name: 'read_file', input: { path: 'note.txt' } } },
  ],
};
const echo = { script: [{ say: '{{prompt}}' }] };
const program = join(import.meta.dirname, '../harness/stdio/program.mjs');
const rememberer = { framework: 'stdio', command: ['node', 'stdio-program.mjs'] };

let s3: S3Server;
beforeAll(async () => {
  requireSandbox();
  s3 = await startS3();
});
afterEach(() => s3.intercept(undefined));

/** The first worker of a service; more can be started on the same database and file store. */
async function firstWorker(): Promise<TestServer> {
  await s3.makeBucket('cluster');
  return startServer({
    database: 'postgres',
    env: s3.env('cluster'),
    agents: { shell, keeper, echo, rememberer },
    agentFiles: { 'rememberer/workspace/stdio-program.mjs': await readFile(program, 'utf8') },
    expectsFaults: true,
  });
}

/** Stops the worker and starts another one with a data folder of its own. */
async function handOver(from: TestServer, name: string): Promise<TestServer> {
  const dataDir = join(from.config.dataDir, '..', name);
  if (!existsSync(dataDir)) {
    await mkdir(dataDir, { mode: 0o700 });
    for (const file of ['master.key', 'quickstart.json']) {
      await copyFile(join(from.config.dataDir, file), join(dataDir, file));
    }
  }
  return from.restart({ env: { CONVOKE_DATA_DIR: dataDir } });
}

async function done(server: TestServer, session: SessionRecord, prompt: string): Promise<string> {
  const run = await runIn(server, await startRun(server, session, prompt), 'completed');
  return run.output_text ?? '';
}

const sessionFolderOf = async (server: TestServer, session: SessionRecord) =>
  join(server.config.dataDir, 'workspaces', server.quickstart.tenant_id, session.id);

const filesOf = async (server: TestServer, session: SessionRecord): Promise<FileRecord[]> =>
  (await server.send('list_files', { params: { session_id: session.id } })).body.files;

const snapshots = (session: SessionRecord) =>
  s3.requests.filter((line) => line.startsWith('PUT') && line.includes(session.id));

test('the next leg finds files, HOME, modes, links and outputs on another machine, and later the changes back on the first', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'shell');
  await done(
    a,
    session,
    'mkdir -p deep/er outputs; echo one > deep/er/file; echo secret > "$HOME/.state"; ' +
      'printf "#!/bin/sh\\necho ran" > tool; chmod 750 tool; ln -s deep/er/file link; echo out > outputs/a.txt',
  );
  const b = await handOver(a, 'b');
  const look =
    'cat deep/er/file "$HOME/.state" link; readlink link; ./tool; stat -c %a tool; cat outputs/a.txt';
  expect(await done(b, session, look)).toBe('one\nsecret\none\ndeep/er/file\nran\n750\nout\n');
  // An output collected on one machine does not count as new on the other.
  expect((await filesOf(b, session)).map(({ name }) => name)).toEqual(['a.txt']);
  await done(b, session, 'echo two > deep/er/file; rm tool; echo more > outputs/b.txt');
  const back = await handOver(b, 'data');
  expect(await done(back, session, 'cat deep/er/file; ls -a')).toBe(
    'two\n.\n..\ndeep\nlink\noutputs\n',
  );
  expect((await filesOf(back, session)).map(({ name }) => name).sort()).toEqual(['a.txt', 'b.txt']);
});

test('the state of an agent and a waiting run continue on another machine', async () => {
  const a = await firstWorker();
  const remembering = await openSession(a, 'rememberer');
  await done(
    a,
    remembering,
    JSON.stringify([{ remember: 'the sea' }, { write: { path: 'x', text: '1' } }]),
  );
  const waiting = await openSession(a, 'keeper');
  const run = await startRun(a, waiting, 'a note');
  await runIn(a, run, 'waiting');
  const b = await handOver(a, 'b');
  expect(await done(b, remembering, JSON.stringify([{ recall: true }]))).toContain('the sea');
  await answer(b, await pendingIn(b, waiting.id), { answer: 'yes' });
  await runIn(b, run, 'completed');
  const read = (await logOf(b, run)).filter(({ type }) => type === 'scripted.tool_result');
  expect(read.map(({ data }) => data)).toContainEqual(
    expect.objectContaining({ name: 'read_file', output: 'a note' }),
  );
});

test('files that a run wrote before its server stopped are there for the next run on another machine', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'shell');
  const run = await startRun(a, session, 'echo half > file; echo written; sleep 1000');
  await eventually(async () => (await logOfSoFar(a, run)).includes('written'));
  const b = await handOver(a, 'b');
  expect(await ended(b, run)).toMatchObject({ status: 'failed', error_code: 'worker_lost' });
  expect(await done(b, session, 'cat file')).toBe('half\n');
});

const logOfSoFar = async (server: TestServer, run: RunRecord) =>
  (await server.call('GET', eventsPath(run), { headers: { accept: 'application/json' } })).text;

test('a session without files stores no snapshot and continues on any machine', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'echo');
  s3.requests.length = 0;
  await done(a, session, 'one');
  await done(a, session, 'two');
  expect(s3.requests).toEqual([]);
  const b = await handOver(a, 'b');
  s3.requests.length = 0;
  expect(await done(b, session, 'three')).toBe('three');
  expect(s3.requests).toEqual([]);
});

test('a leg without changes saves no snapshot, and one with changes replaces the earlier snapshot', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'shell');
  s3.requests.length = 0;
  await done(a, session, 'echo one > file');
  await done(a, session, 'cat file');
  expect(snapshots(session)).toHaveLength(1);
  await done(a, session, 'echo two > file');
  expect(snapshots(session)).toHaveLength(2);
  const { blobs } = a.convoke.services;
  const [before, last] = snapshots(session);
  await eventually(async () => (await blobs.read(keyIn(before))) === undefined);
  await a.stop();
  const kept = await blobs.read(keyIn(last));
  expect(kept?.sizeBytes).toBeGreaterThan(0);
});

const keyIn = (line = '') => /(ten_\w+\/sess_\w+-[0-9a-f]{64})/.exec(line)?.[1] ?? '';

test('an unreadable snapshot ends its session and nothing else', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'shell');
  s3.requests.length = 0;
  await done(a, session, 'echo one > file');
  await a.convoke.services.blobs.removeAll(keyIn(snapshots(session)[0]));
  const b = await handOver(a, 'b');
  const run = await ended(b, await startRun(b, session, 'cat file'));
  expect(run).toMatchObject({ status: 'failed', error_code: 'sandbox_unavailable' });
  expect(await done(b, await openSession(b, 'shell'), 'echo fine')).toBe('fine\n');
});

test('while the file store is unavailable a run on another machine fails and the session stays usable', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'shell');
  await done(a, session, 'echo one > file');
  const b = await handOver(a, 'b');
  s3.intercept((_, response) => {
    response.writeHead(500).end();
    return true;
  });
  const failed = await ended(b, await startRun(b, session, 'cat file'));
  expect(failed).toMatchObject({ status: 'failed', error_code: 'sandbox_unavailable' });
  s3.intercept(undefined);
  expect(await done(b, session, 'cat file')).toBe('one\n');
});

test('a session folder that cannot be stored stays on its machine, and the run and the next machine report it', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'shell');
  await done(a, session, 'echo one > file');
  // A sparse file: too large to store, without using disk space.
  const run = await startRun(a, session, 'truncate -s 3G holes');
  await runIn(a, run, 'completed');
  expect(await logOf(a, run)).toContainEqual(
    expect.objectContaining({
      type: 'stdio.workspace_not_saved',
      data: expect.objectContaining({ reason: 'too_large' }),
    }),
  );
  expect(await done(a, session, 'cat file')).toBe('one\n');
  const b = await handOver(a, 'b');
  const lost = await ended(b, await startRun(b, session, 'cat file'));
  expect(lost).toMatchObject({ status: 'failed', error_code: 'sandbox_unavailable' });
});

test('a session folder that fits again is stored again', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'shell');
  await done(a, session, 'echo one > file; truncate -s 3G holes');
  await done(a, session, 'rm holes');
  const b = await handOver(a, 'b');
  expect(await done(b, session, 'cat file')).toBe('one\n');
});

test('a run that continues elsewhere after a loss takes the archived files, under a new name (D-91)', async () => {
  // Its one slot is taken, so that the test decides who executes the run.
  const env = { CONVOKE_RUN_CONCURRENCY: '1', CONVOKE_LEASE_SECONDS: '300' };
  const puppetAgent = { recovery: { on_loss: 'resume' } };
  const { server, puppet } = await startPuppetServer({
    database: 'postgres',
    env,
    puppetAgent,
    afterLoss: 'repeat',
  });
  const session = await openSession(server, 'puppet');
  const first = await startRun(server, session, 'first');
  const leg = await puppet.leg();
  const note = join(leg.context.sessionFolder, 'note');
  await writeFile(note, 'saved');
  leg.end();
  await ended(server, first);
  const { services } = server.convoke;
  const snapshot = async () =>
    (await services.store.read.sessions.state(sessionId(session.id))).snapshot;
  const saved = await snapshot();
  const blocker = await begin(server, 'puppet');
  await puppet.leg();
  const { id } = await startRun(server, session, 'second');

  const { organization_id, tenant_id } = server.quickstart;
  const scope = { organizationId: organizationId(organization_id), tenantId: tenantId(tenant_id) };
  const address = { scope, sessionId: sessionId(session.id), runId: runId(id) };
  const lease = { owner: 'gone', machine: 'gone', expiresAt: services.clock.now() };
  // Another transaction may have its session locked for a moment.
  const lost = await eventually(async () => {
    const leg = await claimLeg(services, address, idleSlot(lease));
    return typeof leg !== 'string' && leg;
  });
  // What the machine that is gone would have done to its folder.
  await writeFile(note, 'later');
  await recoverRun(services, { run: lost.run, isLost: isLeased, hasSameFolder: false });

  const worker = new Dispatcher(
    { ...services, settings: { ...services.settings, runConcurrency: 10 } },
    { owner: randomUUID(), machine: 'here', holdsLeases: () => true, onFree: () => {} },
  );
  worker.slots.accept();
  await eventually(async () => {
    await worker.dispatchRuns();
    return puppet.hasStarted;
  });
  const next = await puppet.leg();
  expect(await readFile(note, 'utf8')).toBe('saved');
  expect(await snapshot()).toMatch(/^[0-9a-f]{64}$/);
  expect(await snapshot()).not.toBe(saved);
  next.end();
  await worker.slots.drain(60_000);
  await cancel(server, blocker.run);
});

test('no temporary files remain beside the session folders, and other users cannot read them', async () => {
  const a = await firstWorker();
  const session = await openSession(a, 'shell');
  await done(a, session, 'echo one > file');
  const b = await handOver(a, 'b');
  await done(b, session, 'cat file');
  const folder = await sessionFolderOf(b, session);
  expect((await stat(folder)).mode & 0o077).toBe(0);
  expect((await readdir(join(folder, '..'))).sort()).toEqual([
    session.id,
    `${session.id}.home`,
    `${session.id}.json`,
    `${session.id}.saved`,
  ]);
  expect(await readdir(join(folder, '../../.restoring'))).toEqual([]);
});
