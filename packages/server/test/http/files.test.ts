import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileRecord, SessionRecord } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { ended, logOf, openSession } from '../support/api-steps.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';
import { contentPath, fileSteps, openFilePlace, place, sha256 } from './file-steps.ts';

describe.each(deployments)('files on %s', (database) => {
  let server: TestServer;
  let session: SessionRecord;
  beforeAll(async () => {
    ({ server, session } = await openFilePlace(database));
  });
  const steps = fileSteps(() => ({ server, session }));
  const { prepare, upload, uploaded, download, list } = steps;

  describe('download (D-42)', () => {
    test('sends the bytes with their type, length, ETag and a safely encoded name', async () => {
      const file = await prepare({ name: "it's naïve (1)*.html", content_type: 'text/html' });
      await upload(file, '<script>alert(1)</script>');
      const { status, headers, text } = await download(file);
      expect([status, text]).toEqual([200, '<script>alert(1)</script>']);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/html',
        'content-length': '25',
        etag: `"${sha256('<script>alert(1)</script>')}"`,
        'content-disposition': "attachment; filename*=UTF-8''it%27s%20na%C3%AFve%20%281%29%2A.html",
        'x-content-type-options': 'nosniff',
        'accept-ranges': 'bytes',
      });
    });

    test.each([
      ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
      ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
      ['bytes=-3', 206, '789', 'bytes 7-9/10'],
      ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
      ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
      ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
      ['bytes=0-1,4-5', 200, '0123456789', null],
      ['bytes=5-2', 200, '0123456789', null],
      ['lines=1-2', 200, '0123456789', null],
      ['bytes=-', 200, '0123456789', null],
    ])('Range %s → %s %s', async (...row) => {
      const [range, status, text, contentRange] = row;
      const answer = await download(await ten(), { range });
      expect([answer.status, answer.text]).toEqual([status, text]);
      expect(answer.headers.get('content-range')).toBe(contentRange);
      expect(answer.headers.get('content-length')).toBe(String(text.length));
    });

    test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0'])(
      'Range %s is outside the file: 416, with the file’s length',
      async (range) => {
        const refused = await server.refused('download_file', {
          params: place(await ten()),
          headers: { range },
        });
        expect(refused).toMatchObject({ status: 416, error: 'range_not_satisfiable' });
        expect(refused.headers.get('content-range')).toBe('bytes */10');
      },
    );

    test.each([
      ['the same', (etag: string) => etag, 304],
      ['the same, as a weak one', (etag: string) => `W/${etag}`, 304],
      ['one of several', (etag: string) => `"x", ${etag}`, 304],
      ['any', () => '*', 304],
      ['another', () => '"x"', 200],
      ['not a tag', (etag: string) => etag.slice(1, -1), 200],
    ] as const)('If-None-Match with %s tag (RFC 9110 section 13.1.2)', async (_, tagOf, status) => {
      const file = await ten();
      const etag = `"${sha256('0123456789')}"`;
      const answer = await download(file, { 'if-none-match': tagOf(etag), range: 'bytes=0-3' });
      expect(answer.status).toBe(status === 200 ? 206 : status);
      expect(answer.headers.get('etag')).toBe(etag);
      expect(answer.text).toBe(status === 200 ? '0123' : '');
    });

    test.each([
      ['the tag of the file', (etag: string) => etag, 206],
      ['another tag', () => '"x"', 200],
      ['a weak tag', (etag: string) => `W/${etag}`, 200],
      ['a date', () => 'Tue, 17 Nov 2026 10:00:00 GMT', 200],
    ] as const)('a range with If-Range of %s (RFC 9110 section 13.1.5)', async (_, of, status) => {
      const etag = `"${sha256('0123456789')}"`;
      const answer = await download(await ten(), { 'if-range': of(etag), range: 'bytes=0-3' });
      expect([answer.status, answer.text]).toEqual([
        status,
        status === 206 ? '0123' : '0123456789',
      ]);
    });

    test('HEAD tells the length of the whole file, and sends no byte (RFC 9110 section 9.3.2)', async () => {
      const file = await ten();
      const path = contentPath(file);
      const headers = [...Object.entries(server.client), ['range', 'bytes=0-3']] as const;
      const answer = await sendRaw(server, { method: 'HEAD', path, headers });
      expect([answer.status, answer.text]).toEqual([200, '']);
      expect(answer.headers.get('content-length')).toBe('10');
      expect(answer.headers.get('etag')).toBe(`"${sha256('0123456789')}"`);
    });

    let digits: Promise<FileRecord> | undefined;
    const ten = () => (digits ??= uploaded('digits', '0123456789'));
  });

  describe('delete (D-42)', () => {
    test('answers 204, and then the file is not found', async () => {
      const file = await uploaded('gone', 'bytes');
      expect((await server.send('delete_file', { params: place(file) })).status).toBe(204);
      // A caller that lost the first response repeats it.
      expect((await server.send('delete_file', { params: place(file) })).status).toBe(204);
      for (const operation of ['download_file', 'upload_file'] as const) {
        const refused = await server.refused(operation, {
          params: place(file),
          ...(operation === 'upload_file' ? { body: 'bytes' } : {}),
        });
        expect(refused).toMatchObject({ status: 404, error: 'not_found' });
      }
      expect((await list()).map(({ id }) => id)).not.toContain(file.id);
      const { tenant_id } = server.quickstart;
      const blobs = await readdir(join(server.config.dataDir, 'blobs', tenant_id));
      expect(blobs.filter((name) => name.startsWith(file.id))).toEqual([]);
    });
  });

  describe('in the session folder (D-43)', () => {
    test('ready files are under files/ before a run starts, deleted ones are not', async () => {
      const reading = await openSession(server, 'reader');
      const file = await uploaded('letter.txt', 'dear agent', reading);
      const start = async (prompt: string, files?: string[]) =>
        (
          await server.send('start_run', {
            params: { session_id: reading.id },
            body: { input: { prompt, ...(files === undefined ? {} : { files }) } },
          })
        ).body;
      const log = await logOf(server, await start('letter.txt', [file.id]));
      expect(log.find(({ type }) => type === 'scripted.tool_result')?.data).toEqual({
        tool_call_id: 'step-0',
        name: 'read_file',
        output: 'dear agent',
      });
      await server.send('delete_file', { params: place(file) });
      expect(await ended(server, await start('letter.txt'))).toMatchObject({
        status: 'failed',
        error_code: 'tool_error',
      });
    });

    test('a session of an agent without files has no file routes', async () => {
      const without = await openSession(server, 'asker');
      expect(await refusalsOf(server, without)).toEqual(unavailable);
    });
  });

  test('an ended session takes no new bytes; its files can be read and deleted (D-43)', async () => {
    const ending = await openSession(server, 'echo');
    const ready = await uploaded('ready', 'x', ending);
    const pending = await prepare({ name: 'pending' }, ending);
    const params = { session_id: ending.id };
    await server.send('stop_session', { params, body: { mode: 'terminate' } });
    for (const refused of [
      await server.refused('prepare_file', { params, body: { name: 'late' } }),
      await server.refused('upload_file', { params: place(pending), body: 'late' }),
    ]) {
      expect(refused).toMatchObject({ status: 409, error: 'session_terminal' });
    }
    expect(await list(ending)).toEqual([pending, ready]);
    expect((await download(ready)).text).toBe('x');
    // The response to the upload may have been lost: repeating it changes nothing.
    expect((await upload(ready, 'x')).body).toEqual(ready);
    for (const file of [pending, ready]) await server.send('delete_file', { params: place(file) });
    expect(await list(ending)).toEqual([]);
  });

  test('a file of another session is not found, and not deleted there', async () => {
    const file = await uploaded('mine', 'x');
    const other = await openSession(server, 'echo');
    const params = { session_id: other.id, file_id: file.id };
    const refused = await server.refused('download_file', { params });
    expect(refused).toMatchObject({ status: 404, error: 'not_found' });
    expect((await server.send('delete_file', { params })).status).toBe(204);
    expect((await download(file)).text).toBe('x');
  });
});

const unavailable = new Set(['404 files_unavailable']);

/** The refusal of every file operation of the session. */
async function refusalsOf(server: TestServer, session: { id: string }): Promise<Set<string>> {
  const params = { session_id: session.id, file_id: 'file_any' };
  const refusals = new Set<string>();
  for (const [operation, body] of [
    ['prepare_file', { name: 'a' }],
    ['list_files', undefined],
    ['upload_file', 'bytes'],
    ['download_file', undefined],
    ['delete_file', undefined],
  ] as const) {
    const { status, error } = await server.refused(operation, { params, body });
    refusals.add(`${status} ${error}`);
  }
  return refusals;
}

describe('a deployment without attachments (D-43)', () => {
  test('has no file routes anywhere, and says so in whoami, agents and sessions', async () => {
    const server = await startServer({ env: { CONVOKE_FILE_ATTACHMENTS: 'off' } });
    const { body: caller } = await server.send('whoami');
    expect(caller.file_attachments_enabled).toBe(false);
    const { body } = await server.send('list_agents');
    expect(body.agents.every((agent) => !agent.session_files_supported)).toBe(true);
    const session = await openSession(server, 'echo');
    expect(session.session_files_supported).toBe(false);
    expect(await refusalsOf(server, session)).toEqual(unavailable);
    expect(await refusalsOf(server, { id: 'sess_never' })).toEqual(unavailable);
  });

  test('shows so in sessions that were created with attachments, too (spec §2)', async () => {
    const before = await startServer();
    const session = await openSession(before, 'echo');
    expect(session.session_files_supported).toBe(true);
    const server = await before.restart({ env: { CONVOKE_FILE_ATTACHMENTS: 'off' } });
    const params = { session_id: session.id };
    const { body } = await server.send('get_session', { params });
    expect(body.session_files_supported).toBe(false);
    expect(await refusalsOf(server, session)).toEqual(unavailable);
    // §4.2 rule 1: unavailable is 404, also for a size that would be too large.
    const large = { name: 'a', size_bytes: 1e12 };
    const refused = await server.refused('prepare_file', { params, body: large });
    expect(refused).toMatchObject({ status: 404, error: 'files_unavailable' });
    // D-22: `files` is a member of the input exactly where the session takes files.
    const input = { prompt: 'x', files: [] };
    const unknown = await server.refused('start_run', { params, body: { input } });
    expect(unknown).toMatchObject({ status: 400, error: 'unknown_field' });
    const back = await server.restart({ env: { CONVOKE_FILE_ATTACHMENTS: 'on' } });
    expect((await back.send('get_session', { params })).body.session_files_supported).toBe(true);
  });
});
