import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operation, TenantStatus } from '@convoke/contract';
import { type TestContext, describe, expect, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { verifyAudit } from '../../src/app/audit.ts';
import { loadMasterKey } from '../../src/auth/master-key.ts';
import { openStore } from '../../src/compose/database.ts';
import type { Quickstart } from '../../src/quickstart.ts';
import { usualAgents } from '../support/agents.ts';
import { CheckedCalls, type Identity } from '../support/checked-calls.ts';
import { eventually } from '../support/eventually.ts';
import { bearer, requestToken, selecting } from '../support/server.ts';
import { MortalProcess } from './mortal-process.ts';

/** Twice as many as any of these operations has. */
const momentsMax = 60;

/** A server on one data folder that dies on demand and is started again. */
class MortalServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'convoke-kills-'));
  readonly dataDir = join(this.#folder, 'data');
  readonly #process: MortalProcess;
  #calls: CheckedCalls | undefined;
  #quickstart: Quickstart | undefined;

  private constructor() {
    const agents = join(this.#folder, 'agents');
    mkdirSync(join(agents, 'echo'), { recursive: true });
    writeFileSync(
      join(agents, 'echo/agent.yaml'),
      JSON.stringify({ framework: 'scripted', session_files: true, ...usualAgents.echo }),
    );
    this.#process = new MortalProcess({
      CONVOKE_DATA_DIR: this.dataDir,
      CONVOKE_AGENTS_DIR: agents,
      CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0',
    });
  }

  /** When the test is over, nothing that a crash interrupted has left a hole in the audit. */
  static async open({ onTestFinished }: TestContext): Promise<MortalServer> {
    const server = new MortalServer();
    onTestFinished(async () => {
      await server.#process.kill();
      await server.#verifyAudit().finally(() => removeFolderSync(server.#folder));
    });
    await server.#start();
    return server;
  }

  get quickstart(): Quickstart {
    return this.#quickstart ?? fail('the server was not started');
  }

  get calls(): CheckedCalls {
    return this.#calls ?? fail('the server was not started');
  }

  get organization(): { readonly organization_id: string } {
    return { organization_id: this.quickstart.organization_id };
  }

  /** The usual client in another tenant. */
  async inTenant(tenant_id: string): Promise<Identity> {
    const token = await requestToken(this.quickstart.base_url, this.quickstart);
    return selecting({ ...this.organization, tenant_id }, token);
  }

  place(name: string, tenant: string): string {
    return join(this.dataDir, name, tenant);
  }

  async #start(): Promise<void> {
    const quickstart = await this.#process.start();
    this.#quickstart = quickstart;
    const machine = selecting(quickstart, await requestToken(quickstart.base_url, quickstart));
    const owner = bearer(quickstart.owner_token);
    const usual = ({ caller }: Operation): Identity => (caller === 'human' ? owner : machine);
    this.#calls = new CheckedCalls(quickstart.base_url, usual);
  }

  /**
   * Lets the process die this many moments from now, then starts another one. Returns false if the work ended first.
   */
  async dieAt(moment: number, work: () => Promise<unknown>): Promise<boolean> {
    const isGone = this.#process.dieAt({ work: 'identity', moment }).then(() => true);
    const isDone = work().then(
      () => false,
      // The connection breaks when the process ends in the middle of a request.
      () => isGone,
    );
    const isKilled = await Promise.race([isGone, isDone]);
    await this.#process.kill();
    await this.#start();
    return isKilled;
  }

  async #verifyAudit(): Promise<void> {
    const log = { info() {}, warn() {}, error() {} };
    const place = { dataDir: this.dataDir, databaseUrl: undefined };
    const path = join(this.dataDir, 'master.key');
    const masterKey = await loadMasterKey({ path, isGiven: false });
    const store = await openStore(place, { log, masterKey });
    for await (const { problem } of verifyAudit({ store })) {
      if (problem !== undefined) fail(`row ${problem.seq} ${problem.problem}`);
    }
    await store.close();
  }
}

const timeout = 480_000;
const patienceMs = 60_000;
let keys = 0;

type ClientParams = { organization_id: string; client_id: string; credential_id: string };

const withdrawals = {
  disable: ({ calls }: MortalServer, params: ClientParams) =>
    calls.send('update_client', { params, body: { version: 1, status: 'disabled' } }),
  delete: ({ calls }: MortalServer, params: ClientParams) =>
    calls.send('delete_client', { params }),
  revoke: ({ calls }: MortalServer, params: ClientParams) =>
    calls.send('revoke_credential', { params }),
};
type Withdrawal = keyof typeof withdrawals;

// Each test has a server of its own, so that one starts while another one works.
describe.concurrent('a server that is killed (kill -9) at every moment of its work', () => {
  test('provisions every tenant whose creation it took', { timeout }, async (context) => {
    const server = await MortalServer.open(context);
    let deaths = 0;
    for (let moment = 0; moment < momentsMax; moment += 1) {
      const key = `mortal-tenant-${moment}`;
      const isKilled = await server.dieAt(moment, async () => {
        const { body } = await createTenant(server, key);
        await reaches(server, body.id, 'active');
      });
      // Whether or not the first answer came: the same key leads to the same tenant.
      const { body } = await createTenant(server, key);
      await reaches(server, body.id, 'active');
      expect(existsSync(server.place('workspaces', body.id))).toBe(true);
      expect(existsSync(server.place('blobs', body.id))).toBe(false);
      if (!isKilled) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(6);
    const { body } = await server.calls.send('list_tenants', {
      params: server.organization,
      query: { limit: '100' },
    });
    // One per key, and the one the quickstart made.
    expect(body.tenants).toHaveLength(deaths + 2);
  });

  test('removes all of every tenant whose offboarding it took', { timeout }, async (context) => {
    const server = await MortalServer.open(context);
    let deaths = 0;
    for (let moment = 0; moment < momentsMax; moment += 1) {
      const { body: made } = await createTenant(server, `leaving-${(keys += 1)}`);
      await reaches(server, made.id, 'active');
      await fill(server, made.id);
      const params = { ...server.organization, tenant_id: made.id };
      const isKilled = await server.dieAt(moment, async () => {
        await server.calls.send('offboard_tenant', { params, body: { confirm: made.id } });
        await reaches(server, made.id, 'offboarded');
      });
      const { status } = await tenantOf(server, made.id);
      if (status === 'active') {
        // Killed before the commit: nothing happened, and the request can be repeated.
        await server.calls.send('offboard_tenant', { params, body: { confirm: made.id } });
      }
      const as = await server.inTenant(made.id);
      expect((await server.calls.refused('list_agents', { as })).status).toBe(403);
      await reaches(server, made.id, 'offboarded');
      for (const name of ['workspaces', 'blobs'])
        expect(existsSync(server.place(name, made.id))).toBe(false);
      if (!isKilled) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(8);
  });

  test('removes the bytes of every file whose deletion it took', {
    timeout,
  }, async (context) => {
    const server = await MortalServer.open(context);
    let deaths = 0;
    const { body: session } = await server.calls.send('create_session', {
      body: { agent_name: 'echo' },
    });
    for (let moment = 0; moment < momentsMax; moment += 1) {
      const params = { session_id: session.id, file_id: await upload(server, session.id) };
      expect(bytesOf(server, params.file_id)).toHaveLength(1);
      const isKilled = await server.dieAt(moment, () =>
        server.calls.send('delete_file', { params }),
      );
      const { body } = await server.calls.send('list_files', {
        params: { session_id: session.id },
      });
      // Killed before the commit: nothing happened, and the request can be repeated.
      if (body.files.length > 0) await server.calls.send('delete_file', { params });
      await eventually(async () => bytesOf(server, params.file_id).length === 0, patienceMs);
      if (!isKilled) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(4);
  });

  test.for(Object.keys(withdrawals) as Withdrawal[])(
    'finishes every withdrawal it took: %s',
    { timeout },
    async (kind, context) => {
      const server = await MortalServer.open(context);
      let deaths = 0;
      for (let moment = 0; moment < momentsMax; moment += 1) {
        const { body: made } = await server.calls.send('create_client', {
          params: server.organization,
          headers: { 'idempotency-key': `withdrawn-${(keys += 1)}` },
          body: { name: 'Mortal', profile: 'invoke' },
        });
        const params = {
          ...server.organization,
          client_id: made.client.id,
          credential_id: made.credential.id,
        };
        const token = await requestToken(server.quickstart.base_url, made);
        const isKilled = await server.dieAt(moment, () => withdrawals[kind](server, params));
        const isKept = await wasKept(server, kind, params);
        if (!isKept) await withdrawals[kind](server, params);
        await bites(server, kind, { token, secret: made });
        await eventually(async () => (await isPending(server, params)) === false, patienceMs);
        if (kind !== 'delete') await server.calls.send('delete_client', { params });
        if (!isKilled) break;
        deaths += 1;
      }
      expect(deaths).toBeGreaterThanOrEqual(3);
    },
  );
});

function createTenant(server: MortalServer, key: string) {
  return server.calls.send('create_tenant', {
    params: server.organization,
    headers: { 'idempotency-key': key },
    body: { display_name: 'Mortal', mode: 'saas' },
  });
}

async function tenantOf(server: MortalServer, tenant_id: string) {
  const params = { ...server.organization, tenant_id };
  return (await server.calls.send('get_tenant', { params })).body;
}

function reaches(server: MortalServer, tenant_id: string, status: TenantStatus): Promise<boolean> {
  return eventually(async () => (await tenantOf(server, tenant_id)).status === status, patienceMs);
}

/** A session with a run and a file in it. */
async function fill(server: MortalServer, tenant_id: string): Promise<void> {
  const as = await server.inTenant(tenant_id);
  const body = { agent_name: 'echo' };
  const { body: session } = await server.calls.send('create_session', { as, body });
  const params = { session_id: session.id };
  const input = { prompt: 'hello' };
  await server.calls.send('start_run', { as, params, body: { input } });
}

async function upload({ calls }: MortalServer, session_id: string): Promise<string> {
  const body = { name: 'a.txt' };
  const { body: file } = await calls.send('prepare_file', { params: { session_id }, body });
  await calls.send('upload_file', { params: { session_id, file_id: file.id }, body: 'bytes' });
  return file.id;
}

function bytesOf(server: MortalServer, fileId: string): readonly string[] {
  const folder = server.place('blobs', server.quickstart.tenant_id);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => name.startsWith(fileId));
}

/** Whether the process had committed the withdrawal before it died. */
async function wasKept(
  { calls }: MortalServer,
  kind: Withdrawal,
  { organization_id, client_id }: ClientParams,
): Promise<boolean> {
  const path = `/v1/organizations/${organization_id}/m2m/${client_id}`;
  if ((await calls.call('GET', path)).status === 404) return kind === 'delete';
  const { body } = await calls.send('get_client', { params: { organization_id, client_id } });
  if (kind === 'revoke') return body.credentials[0]?.status === 'revoked';
  return body.client.version === 2;
}

async function isPending({ calls }: MortalServer, params: ClientParams): Promise<boolean> {
  const path = `/v1/organizations/${params.organization_id}/m2m/${params.client_id}`;
  return (await calls.call('GET', path)).text.includes('pending_operation');
}

async function bites(
  { quickstart, calls }: MortalServer,
  kind: Withdrawal,
  { token, secret }: { token: string; secret: { client_id: string; client_secret: string } },
): Promise<void> {
  const as = selecting(quickstart, token);
  if (kind === 'revoke') {
    await expect(requestToken(quickstart.base_url, secret)).rejects.toThrow('invalid_client');
    expect((await calls.send('list_sessions', { as })).status).toBe(200);
  } else {
    expect((await calls.refused('list_sessions', { as })).status).toBe(403);
  }
}

function fail(message: string): never {
  throw new Error(message);
}
