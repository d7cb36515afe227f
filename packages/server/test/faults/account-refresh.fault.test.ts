// Servers in processes of their own need one account at the moment at which its token ends, at a service that rotates
// refresh tokens and ends the whole account when an old one is sent again (D-598).
import { hash } from 'node:crypto';
import { Client } from 'pg';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { AccountService } from '../support/account-service.ts';
import { until } from '../support/eventually.ts';
import { query } from '../support/postgres-databases.ts';
import { Caller, type RunAt, expected } from './support/caller.ts';
import { createServerFolder } from './support/server-folder.ts';
import { ServerPair } from './support/server-pair.ts';
import { ServerProcess } from './support/server-process.ts';

const minute = 60_000;
vi.setConfig({ testTimeout: 10 * minute, hookTimeout: 10 * minute });

beforeAll(() => requireSandbox());

/** Says which token it got. The token itself would be redacted. */
const agents = {
  teller: {
    framework: 'stdio',
    command: ['sh', '-c', 'read -r start; printf %s "$TOKEN" | sha256sum | cut -c1-64'],
    connections: { github: { owner: 'tenant' } },
    env: { TOKEN: '${connection:github}' },
  },
};
const settings = { CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32', CONVOKE_LEASE_SECONDS: '15' };
const shown = (token: string) => hash('sha256', token);

/** What a backend does with the account of its tenant. */
async function accountSteps(baseUrl: string, caller: Caller) {
  const service = await AccountService.start();
  await service.register(baseUrl);
  const path = '/v1/connections/github';
  /** Signs in at the service, and stores what comes of it as an account whose token ends now. */
  const connect = async () => {
    const { access_token, refresh_token } = await service.accountOf(
      'ann',
      `${baseUrl}/v1/connect/callback`,
    );
    const auth = {
      type: 'oauth',
      access_token,
      refresh_token,
      expires_at: new Date().toISOString(),
      token_endpoint: `${service.issuer}/token`,
      client_id: AccountService.clientId,
      client_secret: AccountService.clientSecret,
    };
    expected(await caller.call('PUT', path, { auth }), [200, 201]);
    service.tokenRequests = 0;
    return { access_token, refresh_token };
  };
  const record = async () => {
    const { body } = await caller.call('GET', '/v1/connections');
    const { connections } = body as { readonly connections: readonly Record<string, unknown>[] };
    return connections[0] ?? {};
  };
  const start = async (): Promise<RunAt> => {
    const { id: sessionId } = await caller.openSession('teller');
    const { id: runId } = await caller.startRun(sessionId, 'tell');
    return { sessionId, runId };
  };
  const ended = (run: RunAt) =>
    until(
      async () => {
        const now = await caller.run(run);
        return now.ended_at !== undefined && now;
      },
      { what: 'end of the run', withinMs: 5 * minute },
    );
  /** Why a run gets no account: its leg fails, or its start, if the claim of the refresh has run out by then. */
  const whyNone = async () => {
    const { id: sessionId } = await caller.openSession('teller');
    const path = `/v1/sessions/${sessionId}/runs`;
    const { status, body } = await caller.call('POST', path, { input: { prompt: 'tell' } });
    const { id: runId, error } = body as { readonly id: string; readonly error?: string };
    return status === 409 ? error : (await ended({ sessionId, runId })).error_code;
  };
  /** Holds every request to the service until it is released. Resolves once there is one. */
  const holdNext = () => {
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    service.onToken = () => {
      asked.resolve();
      return released.promise;
    };
    onTestFinished(() => released.resolve());
    return { asked: asked.promise, release: () => released.resolve() };
  };
  return { service, connect, record, start, ended, whyNone, holdNext };
}

async function openPair() {
  const pair = await ServerPair.open(agents, { ...settings, CONVOKE_RUN_CONCURRENCY: '1' });
  const caller = await pair.caller();
  const notices = async () =>
    (
      await query(
        pair.databaseUrl,
        `select body from notices where body like '%connection_expired%'`,
      )
    ).length;
  return { pair, notices, ...(await accountSteps('http://convoke.test', caller)) };
}

/** Locks the account, as a slow writer would. */
async function lockAccount(url: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`set convoke.tenant = '*'`);
  await client.query('begin');
  await client.query('select id from connections for update');
  const release = async () => {
    await client.query('rollback');
    await client.end();
  };
  /** Resolves when so many servers want to change it at the same time. */
  const wanted = (servers: number) =>
    until(
      async () =>
        (
          await query(
            url,
            `select pid from pg_stat_activity where datname = current_database()
             and wait_event_type = 'Lock' and query like '%from connections%for update%'`,
          )
        ).length === servers,
      { what: `wait of ${servers} for the account`, withinMs: 5 * minute },
    );
  return { release, wanted };
}

test('of two servers that need a token at once one refreshes it, and both use it', async () => {
  const { pair, service, connect, record, start, ended, notices } = await openPair();
  const first = await connect();
  const lock = await lockAccount(pair.databaseUrl);
  // Each has room for one.
  const runs = [await start(), await start()];
  await lock.wanted(2);
  await lock.release();
  const told = await Promise.all(runs.map(ended));
  expect(told.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(service.tokenRequests).toBe(1);
  const [one, other] = told.map(({ output_text }) => output_text?.trim());
  expect([one?.length, other]).toEqual([64, one]);
  expect(one).not.toBe(shown(first.access_token));
  expect(await record()).toMatchObject({ status: 'connected', version: 2 });

  // What was stored is the newest: the account can be refreshed again.
  const end = () =>
    query(pair.databaseUrl, `update connections set expires_at = ${Date.now()} returning id`);
  await end();
  expect((await ended(await start())).status).toBe('completed');
  expect(service.tokenRequests).toBe(2);
  expect(await record()).toMatchObject({ status: 'connected', version: 3 });
  expect(await notices()).toBe(0);

  // The service is as strict as this test assumes: a second use of a token would have ended the account.
  const { refresh_token } = first;
  expect((await service.token({ grant_type: 'refresh_token', refresh_token })).status).toBe(400);
  await end();
  expect(await ended(await start())).toMatchObject({ error_code: 'connection_missing' });
  expect(await record()).toMatchObject({ status_reason: 'refresh_refused' });
});

test('a server that is killed with the answer in its hands ends the account once, and nothing is sent again', async () => {
  const { pair, service, connect, record, start, ended, whyNone, holdNext, notices } =
    await openPair();
  await connect();
  // The other one executes the run.
  await pair.killCurrent();
  const request = holdNext();
  const mine = await start();
  await request.asked;
  const lock = await lockAccount(pair.databaseUrl);
  request.release();
  await lock.wanted(1);
  await pair.killCurrent();
  await lock.release();
  await pair.bothAlive();
  const told = await Promise.all([whyNone(), ended(mine)]);
  // A lost leg of a program is not executed again.
  expect([told[0], told[1].error_code]).toEqual(['connection_missing', 'worker_lost']);
  expect(await record()).toMatchObject({
    status: 'expired',
    status_reason: 'refresh_lost',
    version: 1,
  });
  expect(service.tokenRequests).toBe(1);
  await until(async () => (await notices()) > 0, { what: 'notice' });
  expect(await notices()).toBe(1);

  // The product asks its user again, and everything works as before.
  await connect();
  expect((await ended(await start())).status).toBe('completed');
  expect(service.tokenRequests).toBe(1);
  expect(await record()).toMatchObject({ status: 'connected' });
});

test('a server that gets SIGTERM stores the answer to the refresh under way before it ends', async () => {
  const folder = await createServerFolder({
    agents,
    settings: { ...settings, CONVOKE_DRAIN_SECONDS: '3600' },
  });
  let server = await ServerProcess.start(folder);
  onTestFinished(async () => {
    await server.kill();
    folder.remove();
  });
  const caller = await Caller.open(folder);
  const steps = await accountSteps(server.baseUrl, caller);
  const { service, connect, record, start, ended, holdNext } = steps;
  await connect();
  const request = holdNext();
  const run = await start();
  await request.asked;
  server.signal('SIGTERM');
  await until(async () => (await server.readiness()) !== 200, { what: 'end of readiness' });
  expect(server.isRunning).toBe(true);
  request.release();
  expect(await server.ended).toEqual({ code: 0, signal: null });

  server = await ServerProcess.start(folder);
  await caller.renewToken();
  expect(await record()).toMatchObject({ status: 'connected', version: 2 });
  expect((await ended(run)).status).toBe('completed');
  expect(service.tokenRequests).toBe(1);
});
