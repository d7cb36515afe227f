import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as lifetime } from 'node:timers/promises';
import { type FileRecord, errorBody, fileRecord } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Caller, expected } from './support/caller.ts';
import { type Reply, exchange } from './support/exchange.ts';
import { type Random, rounds, seededRandom } from './support/random.ts';
import { createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const minute = 60_000;
const maxFileBytes = 4 * 2 ** 20;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('uploads that are interrupted', () => {
  let random: Random;
  let server: ServerProcess;
  let caller: Caller;
  let session: string;

  beforeAll(async () => {
    random = seededRandom('uploads');
    const folder = await createServerFolder({
      agents: { files: { session_files: true, script: [{ say: 'x' }] } },
      settings: { CONVOKE_MAX_FILE_BYTES: String(maxFileBytes) },
    });
    server = await ServerProcess.start(folder);
    caller = await Caller.open(folder);
    session = (await caller.openSession('files')).id;
  });
  afterAll(async () => {
    await server.kill();
    server.folder.remove();
  });

  const filesPath = () => `/v1/sessions/${session}/files`;
  const prepare = async (): Promise<FileRecord> =>
    fileRecord.parse(expected(await caller.call('POST', filesPath(), { name: 'some' }), [201]));
  const contentUrl = ({ id }: FileRecord) => `${server.baseUrl}${filesPath()}/${id}/content`;
  const upload = async (file: FileRecord, body: Uint8Array) =>
    exchange({ method: 'PUT', url: contentUrl(file), headers: caller.headers, body });
  const download = async (file: FileRecord) => {
    const response = await fetch(contentUrl(file), { headers: caller.headers });
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  };

  test(
    'by the death of the server: a file is whole or not there, and can be sent again',
    async () => {
      const seen = { ready: 0, absent: 0 };
      for (let round = 0; round < rounds(5); round++) {
        const files = await Promise.all(
          Array.from({ length: 6 }, async () => {
            const body = randomBytes(random.whole(1, 3_000_000));
            return { file: await prepare(), body, isAcknowledged: false };
          }),
        );
        const sent = files.map(async (item) => {
          const reply = await upload(item.file, item.body);
          item.isAcknowledged = reply.status === 200;
        });
        const settled = Promise.allSettled(sent);
        // The fault itself: how long this process is to live.
        await lifetime(random.whole(1, 250));
        await server.kill();
        await settled;
        server = await ServerProcess.start(server.folder);

        expect(readdirSync(join(server.folder.dataDir, 'blobs', '.staging'))).toEqual([]);
        for (const { file, body, isAcknowledged } of files) {
          const { status, bytes } = await download(file);
          const isReady = status === 200;
          if (!isReady) expect(status).toBe(409);
          if (isReady) expect(sha256(bytes)).toBe(sha256(body));
          if (isAcknowledged) expect(isReady).toBe(true);
          seen[isReady ? 'ready' : 'absent'] += 1;
          expect((await upload(file, body)).status).toBe(200);
          expect(sha256((await download(file)).bytes)).toBe(sha256(body));
        }
      }
      process.stdout.write(`${JSON.stringify(seen)}\n`);
    },
    2 * minute * Math.ceil(rounds(5) / 5),
  );

  test('by a refusal: the answer reaches a client that is still sending, with Connection: close', async () => {
    const large = randomBytes(3 * maxFileBytes);
    const send = async (url: string, headers: Record<string, string>) => {
      const { status, body } = await exchange({ method: 'POST', url, headers, body: large });
      return [status, errorBody.parse(body).error];
    };
    for (let time = 0; time < 20; time++) {
      const file = await prepare();
      const { status, body } = await upload(file, large);
      expect([status, errorBody.parse(body).error]).toEqual([413, 'file_too_large']);
      const sessions = `${server.baseUrl}/v1/sessions`;
      const json = { ...caller.headers, 'content-type': 'application/json' };
      expect(await send(sessions, json)).toEqual([413, 'body_too_large']);
      expect((await send(sessions, {}))[0]).toBe(401);
    }
  });

  test('by its size: a client that sends without end and without a length gets the refusal', async () => {
    const file = await prepare();
    const sending = request(contentUrl(file), {
      method: 'PUT',
      agent: false,
      headers: caller.headers,
    });
    sending.on('error', () => {});
    const answered = new Promise<Reply>((resolve) => {
      sending.on('response', (response) => {
        const status = response.statusCode ?? 0;
        void json(response).then((body) => resolve({ status, headers: response.headers, body }));
      });
    });
    let isAnswered = false;
    void answered.then(() => (isAnswered = true));
    const chunk = new Uint8Array(64 * 1024);
    for (let left = 40 * maxFileBytes; left > 0 && !isAnswered; left -= chunk.length) {
      const written = new Promise((resolve) => sending.write(chunk, resolve));
      // Once it has the answer, Node's client may never settle a write.
      await Promise.race([written, answered]);
    }
    expect(isAnswered, 'an answer while it sends').toBe(true);
    const { status, body } = await answered;
    expect([status, errorBody.parse(body).error]).toEqual([413, 'file_too_large']);
    sending.destroy();
    expect((await download(file)).status).toBe(409);
  });
});
