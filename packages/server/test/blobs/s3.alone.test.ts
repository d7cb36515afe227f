import { createHash } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { openS3Blobs } from '../../src/blobs/s3.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { eventually } from '../support/eventually.ts';
import { type Interception, startS3 } from '../support/s3-server.ts';
import { blobSuite, get, keyOf, put } from './suite.ts';

const s3 = await startS3();
afterEach(() => s3.intercept(undefined));

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-blobs-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

interface Opening {
  readonly bucket?: string;
  readonly prefix?: string;
  readonly dataDir?: string;
  readonly endpoint?: string;
}

let buckets = 0;
const newBucket = async () => {
  buckets += 1;
  await s3.makeBucket(`bucket-${buckets}`);
  return `bucket-${buckets}`;
};

async function open({ bucket, prefix = '', dataDir, endpoint = s3.endpoint }: Opening = {}) {
  return openS3Blobs({
    dataDir: dataDir ?? (await temporaryFolder()),
    bucket: bucket ?? (await newBucket()),
    prefix,
    endpoint,
    region: 'us-east-1',
    pathStyle: true,
  });
}

blobSuite('S3', open);
blobSuite('S3 below a prefix', () => open({ prefix: 'some/place/' }));

const megabyte = 1024 * 1024;

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < count; sent += 1) yield Buffer.alloc(megabyte, sent);
}

const fail: Interception = (_, response) => {
  response.writeHead(500).end();
  return true;
};

test('servers with different prefixes in one bucket do not see each other', async () => {
  const bucket = await newBucket();
  const [a, b] = [await open({ bucket, prefix: 'a/' }), await open({ bucket, prefix: 'b/' })];
  const key = keyOf('ten_1', 'file_1', 'abc');
  await put(a, key, 'abc');
  expect(await b.read(key)).toBeUndefined();
  await b.removeAll('ten_1/');
  expect(String(await get(a, key))).toBe('abc');
});

test('removing deletes more blobs than the store lists at once', async () => {
  const small = await startS3({ listsAtMost: 2 });
  await small.makeBucket('bucket');
  const blobs = await open({ bucket: 'bucket', endpoint: small.endpoint });
  const keys = Array.from({ length: 5 }, (_, n) => keyOf('ten_1', `file_${n}`, 'abc'));
  for (const key of keys) await put(blobs, key, 'abc');
  await blobs.removeAll('ten_1/');
  expect(small.requests.filter((line) => line.includes('prefix=ten_1')).length).toBeGreaterThan(2);
  for (const key of keys) expect(await blobs.read(key)).toBeUndefined();
});

test('a large blob is sent in parts, few at a time, and is read back completely', async () => {
  const blobs = await open();
  const size = 40 * megabyte;
  const blob = await blobs.stage(megabytes(40), { maxBytes: size });
  const key = `ten_1/file_1-${blob.sha256}`;
  const parts: number[] = [];
  let underWay = 0;
  let peak = 0;
  s3.intercept((request, response) => {
    if (request.url?.includes('partNumber=') !== true) return false;
    parts.push(Number(request.headers['content-length']));
    underWay += 1;
    peak = Math.max(peak, underWay);
    response.once('close', () => (underWay -= 1));
    return false;
  });
  await blob.publish(key);
  expect(parts.length).toBeGreaterThanOrEqual(5);
  // Only the parts being sent are in memory, and no more of them than these.
  expect(peak * Math.max(...parts)).toBeLessThanOrEqual(16 * megabyte);
  const hash = createHash('sha256');
  for await (const chunk of (await blobs.read(key)) ?? []) hash.update(chunk);
  expect(hash.digest('hex')).toBe(blob.sha256);
});

test('a failed upload is aborted in the store, and nothing can be read', async () => {
  const blobs = await open();
  const blob = await blobs.stage(megabytes(20), { maxBytes: 20 * megabyte });
  const key = `ten_1/file_1-${blob.sha256}`;
  s3.requests.length = 0;
  s3.intercept((request, response) =>
    request.url?.includes('partNumber=2') === true ? fail(request, response) : false,
  );
  await expect(blob.publish(key)).rejects.toThrow(StorageUnavailable);
  await eventually(async () =>
    s3.requests.some((line) => line.startsWith('DELETE') && line.includes('uploadId=')),
  );
  s3.intercept(undefined);
  expect(await blobs.read(key)).toBeUndefined();
  // The bytes are still staged, so publishing can be retried.
  await blob.publish(key);
  expect(await get(blobs, key)).toHaveLength(20 * megabyte);
});

test('the next start aborts the uploads of a dead server, but none in progress', async () => {
  const upload = (id: string, at: Date) =>
    `<Upload><Key>k</Key><UploadId>${id}</UploadId><Initiated>${at.toISOString()}</Initiated></Upload>`;
  const days = (count: number) => new Date(Date.now() - count * 86_400_000);
  s3.requests.length = 0;
  s3.intercept((request, response) => {
    if (/[?&]uploads/.test(request.url ?? '') === false) return false;
    const list = upload('old', days(2)) + upload('fresh', days(0));
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(`<ListMultipartUploadsResult>${list}</ListMultipartUploadsResult>`);
    return true;
  });
  await open();
  const aborted = s3.requests.filter((line) => line.includes('uploadId='));
  expect(aborted).toEqual([
    expect.stringMatching(/^DELETE .*uploadId=old$|^DELETE .*uploadId=old&/),
  ]);
});

test('the next start deletes the drafts that a crash left, and the store never received them', async () => {
  const dataDir = await temporaryFolder();
  const bucket = await newBucket();
  const blobs = await open({ bucket, dataDir });
  s3.requests.length = 0;
  await blobs.stage(Readable.from([Buffer.from('lost')]), { maxBytes: 100 });
  const staged = () => readdir(join(dataDir, 'blobs', '.staging'));
  expect(await staged()).toHaveLength(1);
  expect(s3.requests).toEqual([]);
  await open({ bucket, dataDir });
  expect(await staged()).toEqual([]);
});

test('an unreachable store rejects as unavailable, and works again when it is back', async () => {
  const blobs = await open();
  const key = keyOf('ten_1', 'file_1', 'abc');
  await put(blobs, key, 'abc');
  s3.intercept(fail);
  await expect(blobs.read(key)).rejects.toThrow(StorageUnavailable);
  await expect(put(blobs, key, 'abc')).rejects.toThrow(StorageUnavailable);
  await expect(blobs.removeAll('ten_1/')).rejects.toThrow(StorageUnavailable);
  s3.intercept(undefined);
  expect(String(await get(blobs, key))).toBe('abc');
});

test('a truncated download fails instead of looking complete', async () => {
  const blobs = await open();
  const key = keyOf('ten_1', 'file_1', 'abc');
  await put(blobs, key, 'abc');
  s3.intercept((request, response) => {
    if (request.method !== 'GET') return false;
    response.writeHead(200, { 'content-length': 1000 });
    response.write('abc', () => response.destroy());
    return true;
  });
  await expect(get(blobs, key)).rejects.toThrow(StorageUnavailable);
});

test('a reader that is abandoned, even before its first chunk, releases its connection', async () => {
  const blobs = await open();
  const bytes = Buffer.alloc(20 * megabyte);
  const staged = await blobs.stage(Readable.from([bytes]), { maxBytes: bytes.length });
  await staged.publish(keyOf('ten_1', 'file_1', bytes));
  const closed = vi.fn<() => void>();
  s3.intercept((request) => {
    request.socket.once('close', closed);
    return false;
  });
  const reader = await blobs.read(keyOf('ten_1', 'file_1', bytes));
  Readable.from(reader ?? []).destroy();
  await expect.poll(() => closed.mock.calls.length).toBeGreaterThan(0);
});

test('a start without its bucket, with a wrong key or without an answer fails with one line', async () => {
  const why = (options: Opening) =>
    open(options).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
  expect(await why({ bucket: 'not-there' })).toMatch(
    /s3:\/\/not-there\/.*the bucket does not exist.*CONVOKE_BLOBS/,
  );
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'somebody');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await why({})).toMatch(
    /the access key was rejected.*AWS_ACCESS_KEY_ID.*InvalidAccessKeyId/,
  );
  const closed = 'http://127.0.0.1:1';
  expect(await why({ endpoint: closed })).toMatch(/at http:\/\/127.0.0.1:1: no answer/);
  s3.intercept((request, response) => (request.method === 'PUT' ? fail(request, response) : false));
  vi.unstubAllEnvs();
  const readOnly = await why({});
  expect(readOnly).not.toBe('it started');
  expect(readOnly).not.toContain('\n');
});
