import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { type Convoke, compose } from '../../src/compose/compose.ts';
import { readConfig } from '../../src/config/config.ts';
import { freePort } from '../../../../test/free-port.ts';
import {
  answer,
  ended,
  openSession,
  pendingIn,
  readRun,
  runIn,
  startRun,
} from '../support/api-steps.ts';
import { type TestServer, startServer } from '../support/server.ts';

describe('an api server and a worker', () => {
  const agents = {
    asker: { script: [{ ask: { question: 'Which?' } }, { say: '{{answer}}' }] },
    sleeper: { script: [{ say: 'zzz' }, { sleep_ms: 60_000 }] },
  };
  let api: TestServer;
  let folder: string;
  let worker: Convoke | undefined;

  beforeAll(async () => {
    api = await startServer({ database: 'postgres', agents, env: { CONVOKE_ROLE: 'api' } });
    folder = await mkdtemp(join(tmpdir(), 'convoke-worker-'));
  });
  afterAll(async () => {
    await worker?.stop(0);
    await removeFolder(folder);
  });

  async function startWorker(): Promise<Convoke> {
    const { databaseUrl = '', agentsDir, baseUrl, dataDir } = api.config;
    const config = readConfig({
      CONVOKE_ROLE: 'worker',
      CONVOKE_DATABASE_URL: databaseUrl,
      CONVOKE_AGENTS_DIR: agentsDir,
      CONVOKE_BASE_URL: baseUrl,
      CONVOKE_DATA_DIR: folder,
      CONVOKE_MASTER_KEY_FILE: join(dataDir, 'master.key'),
      CONVOKE_PORT: String(await freePort()),
    });
    const convoke = await compose(config);
    await convoke.app.listen({ host: config.host, port: config.port });
    await convoke.start();
    return convoke;
  }

  test('a run waits for a worker; the api server answers its question and cancels it', async () => {
    const session = await openSession(api, 'asker');
    const run = await startRun(api, session, 'x');
    expect((await readRun(api, run)).status).toBe('queued');
    worker = await startWorker();
    await answer(api, await pendingIn(api, session.id), { answer: 'red' });
    expect(await ended(api, run)).toMatchObject({ status: 'completed', output_text: 'red' });

    const sleeping = await startRun(api, await openSession(api, 'sleeper'), 'x');
    await runIn(api, sleeping, 'running');
    await api.send('cancel_run', {
      params: { session_id: sleeping.session_id, run_id: sleeping.id },
    });
    expect(await ended(api, sleeping)).toMatchObject({ status: 'cancelled' });
  });

  test('a worker serves its health and nothing else', async () => {
    const asked = async (path: string) => (await worker?.app.inject(path))?.statusCode;
    expect(await asked('/healthz')).toBe(200);
    expect(await asked('/readyz')).toBe(200);
    expect(await asked('/v1/agents')).toBe(404);
    expect(await asked('/openapi.json')).toBe(404);
    expect(await asked('/v1/oauth/token')).toBe(404);
  });
});
