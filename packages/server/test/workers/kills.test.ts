import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Operation, TenantStatus } from '@convoke/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compileCache } from '../../../../test/compile-cache.ts';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { verifyAudit } from '../../src/app/audit.ts';
import { loadMasterKey } from '../../src/auth/master-key.ts';
import { openStore } from '../../src/compose/database.ts';
import type { Quickstart } from '../../src/quickstart.ts';
import { usualAgents } from '../support/agents.ts';
import { CheckedCalls, type Identity } from '../support/checked-calls.ts';
import { eventually } from '../support/eventually.ts';
import { bearer, requestToken, selecting } from '../support/server.ts';

const script = fileURLToPath(new URL('mortal-server.ts', import.meta.url));
/** Twice as many as any of these operations has. */
const momentsMax = 60;

/** A server process on one data folder that kills itself on demand and is started again. */
class MortalServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'convoke-kills-'));
  readonly dataDir = join(this.#folder, 'data');
  readonly #port: number;
  #child: ChildProcess | undefined;
  #calls: CheckedCalls | undefined;
  #quickstart: Quickstart | undefined;

  constructor(port: number) {
    this.#port = port;
    const agent = join(this.#folder, 'agents/echo');
    mkdirSync(agent, { recursive: true });
    writeFileSync(
      join(agent, 'agent.yaml'),
      JSON.stringify({ framework: 'scripted', session_files: true, ...usualAgents.echo }),
    );
  }

  get quickstart(): Quickstart {
    return this.#quickstart ?? fail('the server was not started');
  }

  get calls(): CheckedCalls {
    return this.#calls ?? fail('the server was not started');
  }

  async start(): Promise<void> {
    const child = fork(script, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        PATH: process.env['PATH'],
        ...compileCache,
        CONVOKE_PORT: String(this.#port),
        CONVOKE_DATA_DIR: this.dataDir,
        CONVOKE_AGENTS_DIR: join(this.#folder, 'agents'),
        CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0',
        CONVOKE_LOG_LEVEL: 'silent',
      },
    });
    this.#child = child;
    const [quickstart] = (await once(child, 'message')) as [Quickstart];
    this.#quickstart = quickstart;
    const machine = selecting(quickstart, await requestToken(quickstart.base_url, quickstart));
    const owner = bearer(quickstart.owner_token);
    const usual = ({ caller }: Operation): Identity => (caller === 'human' ? owner : machine);
    this.#calls = new CheckedCalls(quickstart.base_url, usual);
  }

  /** Lets the process die this many moments from now, then starts another one. Returns false if the work ended first. */
  async dieAt(moment: number, work: () => Promise<unknown>): Promise<boolean> {
    const child = this.#child ?? fail('the server was not started');
    const isGone = once(child, 'exit').then(([, signal]) => signal === 'SIGKILL');
    child.send(moment);
    const isDone = work().then(
      () => false,
      // The connection breaks when the process ends in the middle of a request.
      () => isGone,
    );
    const isKilled = await Promise.race([isGone, isDone]);
    if (!isKilled) child.kill('SIGKILL');
    await isGone;
    await this.start();
    return isKilled;
  }

  remove(): void {
    this.#child?.kill('SIGKILL');
    removeFolderSync(this.#folder);
  }
}

describe('a server that is killed (kill -9) at every moment of its work', () => {
  let server: MortalServer;
  let keys = 0;
  beforeAll(async () => {
    const probe = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(probe, 'listening');
    const address = probe.address();
    probe.close();
    await once(probe, 'close');
    if (address === null || typeof address === 'string') return fail('no free port');
    server = new MortalServer(address.port);
    await server.start();
  });
  afterEach(async () => {
    // Nothing that a crash interrupted has left a hole in the audit.
    const log = { info() {}, warn() {}, error() {} };
    const place = { dataDir: server.dataDir, databaseUrl: undefined };
    const path = join(server.dataDir, 'master.key');
    const masterKey = await loadMasterKey({ path, isGiven: false });
    const store = await openStore(place, { log, masterKey });
    for await (const { problem } of verifyAudit({ store })) {
      if (problem !== undefined) fail(`row ${problem.seq} ${problem.problem}`);
    }
    await store.close();
  });
  afterAll(() => server.remove());

  const organization = () => ({ organization_id: server.quickstart.organization_id });
  const createTenant = (key: string) =>
    server.calls.send('create_tenant', {
      params: organization(),
      headers: { 'idempotency-key': key },
      body: { display_name: 'Mortal', mode: 'saas' },
    });
  const tenantOf = async (tenant_id: string) =>
    (await server.calls.send('get_tenant', { params: { ...organization(), tenant_id } })).body;
  const reaches = (tenant_id: string, status: TenantStatus) =>
    eventually(async () => (await tenantOf(tenant_id)).status === status);
  const place = (name: string, tenant: string) => join(server.dataDir, name, tenant);

  test('provisions every tenant whose creation it took', { timeout: 240_000 }, async () => {
    let deaths = 0;
    for (let moment = 0; moment < momentsMax; moment += 1) {
      const key = `mortal-tenant-${moment}`;
      const isKilled = await server.dieAt(moment, async () => {
        const { body } = await createTenant(key);
        await reaches(body.id, 'active');
      });
      // Whether or not the first answer came: the same key leads to the same tenant.
      const { body } = await createTenant(key);
      await reaches(body.id, 'active');
      expect(existsSync(place('workspaces', body.id))).toBe(true);
      expect(existsSync(place('blobs', body.id))).toBe(false);
      if (!isKilled) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(6);
    const { body } = await server.calls.send('list_tenants', {
      params: organization(),
      query: { limit: '100' },
    });
    // One per key, and the one the quickstart made.
    expect(body.tenants).toHaveLength(deaths + 2);
  });

  test('removes all of every tenant whose offboarding it took', { timeout: 240_000 }, async () => {
    let deaths = 0;
    for (let moment = 0; moment < momentsMax; moment += 1) {
      const { body: made } = await createTenant(`leaving-${(keys += 1)}`);
      await reaches(made.id, 'active');
      await fill(made.id);
      const params = { ...organization(), tenant_id: made.id };
      const isKilled = await server.dieAt(moment, async () => {
        await server.calls.send('offboard_tenant', { params, body: { confirm: made.id } });
        await reaches(made.id, 'offboarded');
      });
      const { status } = await tenantOf(made.id);
      if (status === 'active') {
        // Killed before the commit: nothing happened, and the request can be repeated.
        await server.calls.send('offboard_tenant', { params, body: { confirm: made.id } });
      }
      const machine = await requestToken(server.quickstart.base_url, server.quickstart);
      const as = selecting({ ...organization(), tenant_id: made.id }, machine);
      expect((await server.calls.refused('list_agents', { as })).status).toBe(403);
      await reaches(made.id, 'offboarded');
      for (const name of ['workspaces', 'blobs'])
        expect(existsSync(place(name, made.id))).toBe(false);
      if (!isKilled) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(8);
  });

  /** A session with a run and a file in it. */
  async function fill(tenant_id: string): Promise<void> {
    const token = await requestToken(server.quickstart.base_url, server.quickstart);
    const as = selecting({ ...organization(), tenant_id }, token);
    const body = { agent_name: 'echo' };
    const { body: session } = await server.calls.send('create_session', { as, body });
    const params = { session_id: session.id };
    const input = { prompt: 'hello' };
    await server.calls.send('start_run', { as, params, body: { input } });
  }

  test('removes the bytes of every file whose deletion it took (F3)', {
    timeout: 240_000,
  }, async () => {
    let deaths = 0;
    const { body: session } = await server.calls.send('create_session', {
      body: { agent_name: 'echo' },
    });
    for (let moment = 0; moment < momentsMax; moment += 1) {
      const params = { session_id: session.id, file_id: await upload(session.id) };
      expect(bytesOf(params.file_id)).toHaveLength(1);
      const isKilled = await server.dieAt(moment, () =>
        server.calls.send('delete_file', { params }),
      );
      const { body } = await server.calls.send('list_files', {
        params: { session_id: session.id },
      });
      // Killed before the commit: nothing happened, and the request can be repeated.
      if (body.files.length > 0) await server.calls.send('delete_file', { params });
      await eventually(async () => bytesOf(params.file_id).length === 0);
      if (!isKilled) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(4);
  });

  async function upload(session_id: string): Promise<string> {
    const body = { name: 'a.txt' };
    const { body: file } = await server.calls.send('prepare_file', {
      params: { session_id },
      body,
    });
    const params = { session_id, file_id: file.id };
    await server.calls.send('upload_file', { params, body: 'bytes' });
    return file.id;
  }

  function bytesOf(fileId: string): readonly string[] {
    const folder = place('blobs', server.quickstart.tenant_id);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).filter((name) => name.startsWith(fileId));
  }

  const withdrawals = {
    disable: (params: Params) =>
      server.calls.send('update_client', { params, body: { version: 1, status: 'disabled' } }),
    delete: (params: Params) => server.calls.send('delete_client', { params }),
    revoke: (params: Params) => server.calls.send('revoke_credential', { params }),
  };
  type Params = { organization_id: string; client_id: string; credential_id: string };

  test.each(Object.keys(withdrawals) as (keyof typeof withdrawals)[])(
    'finishes every withdrawal it took: %s',
    { timeout: 240_000 },
    async (kind) => {
      let deaths = 0;
      for (let moment = 0; moment < momentsMax; moment += 1) {
        const { body: made } = await server.calls.send('create_client', {
          params: organization(),
          headers: { 'idempotency-key': `withdrawn-${(keys += 1)}` },
          body: { name: 'Mortal', profile: 'invoke' },
        });
        const params = {
          ...organization(),
          client_id: made.client.id,
          credential_id: made.credential.id,
        };
        const token = await requestToken(server.quickstart.base_url, made);
        const isKilled = await server.dieAt(moment, () => withdrawals[kind](params));
        const isKept = await wasKept(kind, params);
        if (!isKept) await withdrawals[kind](params);
        await bites(kind, { token, secret: made });
        await eventually(async () => (await pending(params)) === false);
        if (kind !== 'delete') await server.calls.send('delete_client', { params });
        if (!isKilled) break;
        deaths += 1;
      }
      expect(deaths).toBeGreaterThanOrEqual(3);
    },
  );

  /** Whether the process had committed the withdrawal before it died. */
  async function wasKept(kind: keyof typeof withdrawals, params: Params): Promise<boolean> {
    const { organization_id, client_id } = params;
    const at = { params: { organization_id, client_id } };
    const answer = await server.calls.call(
      'GET',
      `/v1/organizations/${organization_id}/m2m/${client_id}`,
    );
    if (answer.status === 404) return kind === 'delete';
    const { body } = await server.calls.send('get_client', at);
    if (kind === 'revoke') return body.credentials[0]?.status === 'revoked';
    return body.client.version === 2;
  }

  async function pending({ organization_id, client_id }: Params): Promise<boolean> {
    const answer = await server.calls.call(
      'GET',
      `/v1/organizations/${organization_id}/m2m/${client_id}`,
    );
    return answer.text.includes('pending_operation');
  }

  async function bites(
    kind: keyof typeof withdrawals,
    { token, secret }: { token: string; secret: { client_id: string; client_secret: string } },
  ): Promise<void> {
    const as = selecting(server.quickstart, token);
    if (kind === 'revoke') {
      await expect(requestToken(server.quickstart.base_url, secret)).rejects.toThrow(
        'invalid_client',
      );
      expect((await server.calls.send('list_sessions', { as })).status).toBe(200);
    } else {
      expect((await server.calls.refused('list_sessions', { as })).status).toBe(403);
    }
  }
});

function fail(message: string): never {
  throw new Error(message);
}
