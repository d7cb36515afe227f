import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import {
  AuthenticationError,
  ConflictError,
  Convoke,
  InvalidRequestError,
  NotFoundError,
  type Progress,
  RunError,
} from '../src/index.ts';
import { openFile } from '../src/node.ts';
import { type ConvokeServer, clientOf, startConvoke } from './convoke-server.ts';

let server: ConvokeServer;
let convoke: Convoke;
beforeAll(async () => {
  server = await startConvoke();
  convoke = new Convoke(clientOf(server));
});
afterAll(() => server[Symbol.asyncDispose]());

describe('a backend', () => {
  test('reads its identity, its workspaces and the agents', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    expect(await convoke.whoami()).toMatchObject({ organization_id, tenant_id, profile: 'invoke' });
    const { items } = await convoke.workspaces().page();
    expect(items).toMatchObject([{ organization_id, tenant: { tenant_id } }]);
    const names: string[] = [];
    for await (const agent of convoke.agents.list({ limit: 2 })) names.push(agent.name);
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(expect.arrayContaining(['demo', 'echo', 'fail', 'slow', 'talker']));
  });

  test('with a wrong secret gets an AuthenticationError', async () => {
    const wrong = new Convoke({ ...clientOf(server), clientSecret: 'cvk_wrong' });
    const error = await wrong.whoami().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ code: 'invalid_client', requestId: expect.any(String) });
  });

  test('gets the error code of an invalid request', async () => {
    await expect(convoke.sessions.create('nobody')).rejects.toMatchObject({
      name: 'NotFoundError',
      code: 'agent_not_found',
    });
    await expect(convoke.sessions.get('sess_none')).rejects.toBeInstanceOf(NotFoundError);
    const listed = convoke.sessions.list({ limit: 1000 }).page();
    await expect(listed).rejects.toBeInstanceOf(InvalidRequestError);
  });
});

describe('a run', () => {
  test('returns its text, its record and its events', async () => {
    const session = await convoke.sessions.create('echo');
    const run = await session.run('Hello');
    expect(await run.text()).toBe('Hello (run 1)');
    expect(await run.wait()).toMatchObject({ status: 'completed', output_text: 'Hello (run 1)' });
    const followed: unknown[] = [];
    for await (const event of run) followed.push(event);
    const recorded: unknown[] = [];
    for await (const event of run.events({ limit: 2 })) recorded.push(event);
    expect(followed).toEqual(recorded);
    expect(followed.at(-1)).toMatchObject({ type: 'run_completed', run_id: run.id });
  });

  test('that fails is a RunError with its code, and wait() returns its record', async () => {
    const session = await convoke.sessions.create('fail');
    const run = await session.run('fall');
    const error = await run.text().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RunError);
    expect(error).toMatchObject({
      code: 'agent_error',
      message: 'This agent always fails; you asked it to fall',
      run: { id: run.id, status: 'failed' },
    });
    expect((await run.wait()).status).toBe('failed');
  });

  test('returns its output, or says that there is none', async () => {
    const typed = await convoke.sessions.create('typed');
    const run = await typed.run({ ticket: 7 });
    const { team } = await run.output<{ readonly team: 'billing' | 'tech' }>();
    expect(team).toBe('tech');
    const echo = await convoke.sessions.create('echo');
    const silent = (await echo.run('Hello')).output();
    await expect(silent).rejects.toMatchObject({ name: 'NoOutput', code: 'no_output' });
    const failing = await convoke.sessions.create('fail');
    const failed = (await failing.run('fall')).output();
    await expect(failed).rejects.toMatchObject({ name: 'RunError', code: 'agent_error' });
  });

  test('can be cancelled, and text() then throws', async () => {
    const session = await convoke.sessions.create('patient');
    const run = await session.run('wait');
    for await (const event of run) if (event.type === 'message_delta') break;
    const text = run.text();
    expect(['cancelling', 'cancelled']).toContain((await run.cancel({ reason: 'Enough' })).status);
    await expect(text).rejects.toMatchObject({ code: 'run_cancelled' });
    await expect(run.cancel()).resolves.toMatchObject({ status: 'cancelled' });
  });

  test('is started once per key', async () => {
    const session = await convoke.sessions.create('echo');
    const first = await session.run('Hello', { idempotencyKey: 'same' });
    const again = await session.run('Hello', { idempotencyKey: 'same' });
    expect(again.id).toBe(first.id);
    await expect(session.run('Other', { idempotencyKey: 'same' })).rejects.toMatchObject({
      name: 'ConflictError',
      code: 'idempotency_conflict',
    });
  });

  test('can be followed in another process after the last processed event', async () => {
    const session = await convoke.sessions.create('talker');
    const run = await session.run('bye');
    const seen: string[] = [];
    for await (const event of run) {
      seen.push(event.id);
      if (seen.length === 5) break;
    }
    const elsewhere = new Convoke(clientOf(server)).sessions.at(session.id).runs.at(run.id);
    for await (const event of elsewhere.follow({ after: seen.at(-1) })) seen.push(event.id);
    const recorded: string[] = [];
    for await (const event of run.events()) recorded.push(event.id);
    expect(seen).toEqual(recorded);
    const rest: string[] = [];
    for await (const event of elsewhere.follow({ after: seen.at(-1) })) rest.push(event.id);
    expect(rest).toEqual([]);
  });

  test('can be created with its session in one request, whose response is the first stream', async () => {
    const key = 'invoked-once';
    const run = await convoke.agents.invoke('talker', 'bye', { idempotencyKey: key });
    const events: unknown[] = [];
    for await (const event of run) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'run_completed', run_id: run.id });
    expect(await run.text()).toContain('bye');
    const again = await convoke.agents.invoke('talker', 'bye', { idempotencyKey: key });
    expect([again.id, again.sessionId]).toEqual([run.id, run.sessionId]);
    await again.wait();
  });
});

describe('a session', () => {
  test('is listed, page by page', async () => {
    const made = new Set<string>();
    for (let count = 0; count < 5; count += 1) made.add((await convoke.sessions.create('slow')).id);
    const listed: string[] = [];
    for await (const session of convoke.sessions.list({ agent_name: 'slow', limit: 2 })) {
      expect(session.record.agent_name).toBe('slow');
      listed.push(session.id);
    }
    expect(new Set(listed)).toEqual(made);
    expect(listed).toHaveLength(5);
  });

  test('is stopped, resumed and terminated', async () => {
    const session = await convoke.sessions.create('echo');
    expect((await session.stop()).status).toBe('stopped');
    await expect(session.run('Hello')).rejects.toMatchObject({ code: 'session_stopped' });
    expect((await session.resume()).status).toBe('idle');
    expect(await (await session.run('Hello')).text()).toBe('Hello (run 1)');
    expect((await session.stop({ mode: 'terminate' })).status).toBe('terminated');
    await expect(session.resume()).rejects.toBeInstanceOf(ConflictError);
    expect((await session.read()).status).toBe('terminated');
  });
});

describe('a file', () => {
  const bytes = new Uint8Array(randomBytes(300_000));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'convoke-sdk-file-'));
    await writeFile(join(folder, 'data.bin'), bytes);
  });
  afterAll(() => removeFolder(folder));

  const contents = {
    bytes: async () => bytes,
    'a Blob': async () => new Blob([bytes], { type: 'application/x-data' }),
    'a File': async () => new File([bytes], 'data.bin'),
    'a stream': async () => new Blob([bytes]).stream(),
    'a path': () => openFile(join(folder, 'data.bin')),
  };

  test.each(Object.entries(contents))(
    'is uploaded from %s, with progress',
    async (_what, content) => {
      const { files } = await convoke.sessions.create('echo');
      const progress: Progress[] = [];
      const file = await files.upload(await content(), {
        name: 'data.bin',
        onProgress: (made) => progress.push(made),
      });
      expect(file).toMatchObject({
        status: 'ready',
        name: 'data.bin',
        size_bytes: 300_000,
        sha256,
      });
      expect(progress.length).toBeGreaterThan(3);
      expect(progress.map(({ sentBytes }) => sentBytes)).toEqual(
        progress.map(({ sentBytes }) => sentBytes).toSorted((a, b) => a - b),
      );
      expect(progress.at(-1)).toEqual({ sentBytes: 300_000, totalBytes: 300_000 });
    },
  );

  test.each(Object.entries(contents))(
    'is uploaded from %s, without progress',
    async (_what, content) => {
      const { files } = await convoke.sessions.create('echo');
      const options = { name: 'data.bin', contentType: 'image/png', sha256 };
      const file = await files.upload(await content(), options);
      expect(file).toMatchObject({ sha256, content_type: 'image/png' });
    },
  );

  test('is downloaded as a stream, completely or in part, listed and deleted', async () => {
    const { files } = await convoke.sessions.create('echo');
    const file = await files.upload(bytes, { name: 'data.bin' });
    const answer = await files.download(file.id);
    const hash = createHash('sha256');
    for await (const piece of answer.body ?? []) hash.update(piece);
    expect(hash.digest('hex')).toBe(sha256);
    const part = await files.download(file.id, { range: { start: 10, end: 19 } });
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(bytes.slice(10, 20));
    expect((await files.list().page()).items).toEqual([file]);
    await files.delete(file.id);
    await expect(files.download(file.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  test('can be attached to a run', async () => {
    const session = await convoke.sessions.create('echo');
    const file = await session.files.upload(new Blob(['a,b']), { name: 'table.csv' });
    const run = await session.run('Look', { files: [file.id] });
    expect((await run.wait()).input).toEqual({ prompt: 'Look', files: [file.id] });
  });

  test('whose content does not match its declaration is not stored', async () => {
    const { files } = await convoke.sessions.create('echo');
    const upload = files.upload(bytes, { name: 'data.bin', sha256: '0'.repeat(64) });
    await expect(upload).rejects.toMatchObject({ code: 'content_mismatch' });
    expect((await files.list().page()).items).toEqual([]);
  });

  test('without a name needs one in the options', async () => {
    const { files } = convoke.sessions.at('sess_1');
    await expect(files.upload(bytes)).rejects.toBeInstanceOf(TypeError);
  });
});
