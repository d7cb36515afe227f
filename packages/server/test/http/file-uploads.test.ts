import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileRecord, SessionRecord } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { openSocket, sendRaw } from '../support/raw-requests.ts';
import { type TestServer, deployments } from '../support/server.ts';
import { contentPath, fileSteps, maxBytes, openFilePlace, place, sha256 } from './file-steps.ts';

describe.each(deployments)('uploads of files on %s', (database) => {
  let server: TestServer;
  let session: SessionRecord;
  beforeAll(async () => {
    ({ server, session } = await openFilePlace(database));
  });
  const steps = fileSteps(() => ({ server, session }));
  const { prepare, upload, uploaded, download, list } = steps;

  describe('prepare (D-40)', () => {
    test('answers 201 with a pending record', async () => {
      expect(await prepare({ name: 'report.pdf' })).toEqual({
        id: expect.stringMatching(/^file_[0-9a-hjkmnp-tv-z]{26}$/),
        session_id: session.id,
        name: 'report.pdf',
        content_type: 'application/octet-stream',
        status: 'pending',
        created_at: expect.any(String),
      });
      const declared = {
        name: 'a',
        content_type: 'text/plain',
        size_bytes: 3,
        sha256: sha256('abc'),
      };
      expect(await prepare(declared)).toMatchObject(declared);
    });

    test.each([
      '',
      '.',
      '..',
      'a/b',
      'a\\b',
      'nul\u0000',
      'line\nbreak',
      '\u007f',
      'x'.repeat(256),
      '\ud800',
    ])('refuses the name %j', async (name) => {
      const refused = await server.refused('prepare_file', {
        params: { session_id: session.id },
        body: { name },
      });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
      expect(refused.message).toContain('name');
    });

    test.each(['x'.repeat(255), '...', ' spaced ', 'naïve-🙂.txt', '.hidden', 'a:b*c?"<>|'])(
      'takes the name %j as it is',
      async (name) => {
        expect((await prepare({ name })).name).toBe(name);
      },
    );

    test.each([
      { size_bytes: -1 },
      { size_bytes: 1.5 },
      { size_bytes: '3' },
      { sha256: 'abc' },
      { sha256: sha256('x').toUpperCase() },
      { content_type: 'text' },
      { content_type: 'text/plain\r\nx: y' },
    ])('refuses %j', async (wrong) => {
      const refused = await server.refused('prepare_file', {
        params: { session_id: session.id },
        body: { name: 'a', ...wrong },
      });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
      expect(refused.message).toContain(Object.keys(wrong)[0]);
    });

    test('refuses a file above the deployment’s limit before a byte is sent', async () => {
      const refused = await server.refused('prepare_file', {
        params: { session_id: session.id },
        body: { name: 'a', size_bytes: maxBytes + 1 },
      });
      expect(refused).toMatchObject({ status: 413, error: 'file_too_large' });
    });
  });

  describe('upload (D-41)', () => {
    test('makes the file ready, with its size and digest', async () => {
      const bytes = randomBytes(maxBytes);
      const file = await prepare({ name: 'exactly-the-most.bin' });
      const { status, body } = await upload(file, bytes);
      expect(status).toBe(200);
      expect(body).toEqual({
        ...file,
        status: 'ready',
        size_bytes: maxBytes,
        sha256: sha256(bytes),
      });
      expect(Buffer.from((await download(body)).bytes).equals(bytes)).toBe(true);
    });

    test('of zero bytes makes an empty file', async () => {
      const file = await uploaded('empty', '');
      expect(file).toMatchObject({ status: 'ready', size_bytes: 0, sha256: sha256('') });
      expect((await download(file)).bytes).toHaveLength(0);
    });

    test('over the limit is 413, with and without a length, and leaves nothing', async () => {
      const file = await prepare({ name: 'big' });
      const bytes = randomBytes(maxBytes + 1);
      const refused = await server.refused('upload_file', { params: place(file), body: bytes });
      expect(refused).toMatchObject({ status: 413, error: 'file_too_large' });
      const chunk = `${bytes.length.toString(16)}\r\n`;
      const answer = await sendRaw(server, {
        method: 'PUT',
        path: contentPath(file),
        headers: [...Object.entries(server.client), ['transfer-encoding', 'chunked']],
        body: Buffer.concat([Buffer.from(chunk), bytes, Buffer.from('\r\n0\r\n\r\n')]),
      });
      expect(answer.status).toBe(413);
      await expectNothing(file);
    });

    test.each([
      ['size', { size_bytes: 4 }],
      ['digest', { sha256: sha256('other') }],
    ])(
      'that differs from the declared %s is content_mismatch, and can be retried',
      async (_, declared) => {
        const file = await prepare({ name: 'a', ...declared });
        const refused = await server.refused('upload_file', { params: place(file), body: 'abc' });
        expect(refused).toMatchObject({ status: 400, error: 'content_mismatch' });
        await expectNothing(file);
        const right = 'size_bytes' in declared ? 'abcd' : 'other';
        expect((await upload(file, right)).body.status).toBe('ready');
      },
    );

    test('again with the same bytes is 200, with others 409 and unchanged', async () => {
      const file = await uploaded('once', 'first');
      expect((await upload(file, 'first')).body).toEqual(file);
      const refused = await server.refused('upload_file', { params: place(file), body: 'other' });
      expect(refused).toMatchObject({ status: 409, error: 'file_already_uploaded' });
      expect((await download(file)).text).toBe('first');
    });

    test('ten times in parallel: one content wins, and it is complete', async () => {
      const file = await prepare({ name: 'raced' });
      const contents = Array.from({ length: 10 }, (_, index) => String(index).repeat(5_000));
      const statuses = await Promise.all(
        contents.map(
          async (body) => (await server.call('PUT', contentPath(file), { body })).status,
        ),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 409)).toHaveLength(9);
      expect((await download(file)).text).toBe(contents[statuses.indexOf(200)]);
      const { tenant_id } = server.quickstart;
      const blobs = await readdir(join(server.config.dataDir, 'blobs', tenant_id));
      expect(blobs.filter((name) => name.startsWith(file.id))).toHaveLength(1);
    });

    test('that is cut off at any byte leaves nothing visible', async () => {
      const file = await prepare({ name: 'cut' });
      const body = randomBytes(40_000);
      for (const cut of [0, 1, 20_000, 39_999]) {
        const socket = await openSocket(server);
        const headers = Object.entries(server.client).map(([name, value]) => `${name}: ${value}`);
        const head = [
          `PUT ${contentPath(file)} HTTP/1.1`,
          'host: x',
          `content-length: ${body.length}`,
          ...headers,
        ];
        socket.write(`${head.join('\r\n')}\r\n\r\n`);
        if (cut > 0) socket.write(body.subarray(0, cut));
        const staging = join(server.config.dataDir, 'blobs', '.staging');
        await eventually(async () => (await readdir(staging)).length > 0);
        socket.resetAndDestroy();
        await eventually(async () => (await readdir(staging)).length === 0);
        await expectNothing(file);
      }
      expect((await upload(file, body)).body.sha256).toBe(sha256(body));
    });

    test('with a content encoding is 415', async () => {
      const file = await prepare({ name: 'packed' });
      const answer = await server.refused('upload_file', {
        params: place(file),
        body: 'x',
        headers: { 'content-encoding': 'gzip' },
      });
      expect(answer).toMatchObject({ status: 415, error: 'unsupported_media_type' });
      await expectNothing(file);
    });

    async function expectNothing(file: FileRecord): Promise<void> {
      const refused = await server.refused('download_file', { params: place(file) });
      expect(refused).toMatchObject({ status: 409, error: 'file_not_ready' });
      expect((await list()).find(({ id }) => id === file.id)).toEqual(file);
    }
  });
});
