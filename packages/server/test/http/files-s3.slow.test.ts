import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileRecord } from '@convoke/contract';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { compose } from '../../src/compose/compose.ts';
import { readConfig } from '../../src/config/config.ts';
import { examine } from '../../src/operate/doctor/doctor.ts';
import { openSession } from '../support/api-steps.ts';
import { type S3Server, startS3 } from '../support/s3-server.ts';
import { type TestServer, startServer } from '../support/server.ts';

let s3: S3Server;
let server: TestServer;
beforeAll(async () => {
  s3 = await startS3();
  await s3.makeBucket('files');
  server = await startServer({ env: s3.env('files'), expectsFaults: true });
});
afterEach(() => s3.intercept(undefined));

async function uploaded(content: Uint8Array | string): Promise<FileRecord> {
  const { id } = await openSession(server, 'echo');
  const params = { session_id: id };
  const { body: file } = await server.send('prepare_file', { params, body: { name: 'a.bin' } });
  const { body } = await server.send('upload_file', { params: placeOf(file), body: content });
  return body;
}

const placeOf = (file: FileRecord) => ({ session_id: file.session_id, file_id: file.id });

const download = (file: FileRecord, headers: Record<string, string> = {}) =>
  server.fetch('GET', `/v1/sessions/${file.session_id}/files/${file.id}/content`, { headers });

test('a file is uploaded, downloaded, read in part and deleted (D-41, D-42)', async () => {
  const content = randomBytes(300_000);
  const file = await uploaded(content);
  expect(file).toMatchObject({ status: 'ready', size_bytes: content.length });
  const whole = await download(file);
  expect(whole.status).toBe(200);
  expect(content.equals(Buffer.from(await whole.arrayBuffer()))).toBe(true);
  const part = await download(file, { range: 'bytes=1000-1999' });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe('bytes 1000-1999/300000');
  expect(content.subarray(1000, 2000).equals(Buffer.from(await part.arrayBuffer()))).toBe(true);
  await server.send('delete_file', { params: placeOf(file) });
  expect((await download(file)).status).toBe(404);
});

test('the bytes are in the bucket and not in the data folder', async () => {
  s3.requests.length = 0;
  const file = await uploaded('abc');
  expect(s3.requests).toContainEqual(
    expect.stringMatching(new RegExp(`^PUT /files/ten_\\w+/${file.id}-[0-9a-f]{64}`)),
  );
  expect(await readdir(join(server.config.dataDir, 'blobs'))).toEqual(['.staging']);
  expect(await readdir(join(server.config.dataDir, 'blobs', '.staging'))).toEqual([]);
});

test('while S3 is unavailable files answer 503 and the rest works; afterwards all works', async () => {
  const file = await uploaded('abc');
  s3.intercept((_, response) => {
    response.writeHead(500).end();
    return true;
  });
  const refused = await download(file);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(await refused.json()).toMatchObject({ error: 'storage_unavailable' });
  const { id } = await openSession(server, 'echo');
  const params = { session_id: id };
  const { body: next } = await server.send('prepare_file', { params, body: { name: 'b' } });
  const put = { params: placeOf(next), body: 'late' };
  const upload = await server.refused('upload_file', put);
  expect(upload).toMatchObject({ status: 503, error: 'storage_unavailable' });
  s3.intercept(undefined);
  expect((await server.send('upload_file', put)).body).toMatchObject({ status: 'ready' });
  expect(await (await download(file)).text()).toBe('abc');
});

test('a start without the bucket fails with one line; doctor reports the same', async () => {
  const dataDir = join(server.config.dataDir, 'another');
  const config = readConfig({ CONVOKE_DATA_DIR: dataDir, ...s3.env('not-there') });
  const said = await compose(config).then(
    () => 'it started',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  );
  expect(said).toMatch(/^the bucket s3:\/\/not-there\/ at http.*the bucket does not exist/);
  const files = async (bucket: string) =>
    (await examine(readConfig({ CONVOKE_DATA_DIR: dataDir, ...s3.env(bucket) }))).find(
      ({ check }) => check === 'files',
    );
  expect(await files('not-there')).toMatchObject({ state: 'fail', text: said });
  expect(await files('files')).toMatchObject({ state: 'ok' });
});
