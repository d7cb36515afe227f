// Three server processes on one PostgreSQL, each killed (kill -9) at every step of numbering, delivering and
// firing. Schedules fire all the time, so that every step has work.
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { CheckedCalls } from '../support/checked-calls.ts';
import { createLocation, isQuick } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { query, testConnections } from '../support/postgres-databases.ts';
import { requestToken, selecting } from '../support/server.ts';
import {
  type WebhookReceiver,
  receiverNetwork,
  startReceiver,
} from '../support/webhook-receiver.ts';
import { MortalProcess } from './mortal-process.ts';
import type { Death } from './mortal-server.ts';

const minute = 60_000;
const patienceMs = 4 * minute;

/** Of transactions: before the commit and after it. Of sending: the request is written, and it was answered. */
const deaths: readonly (readonly Death[])[] = [
  [
    { work: 'numbering', moment: 0 },
    { work: 'leasing', moment: 0 },
    { work: 'recording', moment: 0 },
    { work: 'firing', moment: 0 },
  ],
  [
    { work: 'firing', moment: 1 },
    { work: 'numbering', moment: 1 },
    { work: 'sending', moment: 0 },
  ],
  [
    { work: 'leasing', moment: 1 },
    { work: 'sending', moment: 1 },
    { work: 'recording', moment: 1 },
  ],
];

test.skipIf(isQuick)(
  'three servers that die at every step number, deliver and fire everything, and nothing twice (D-111, D-122, D-141)',
  { timeout: 10 * minute },
  async () => {
    const world = await NoticeWorld.open();
    let isOver = false;
    const load = world.keepFiring(() => isOver);
    await Promise.all(deaths.map((planned, index) => world.dieInTurn(index, planned)));
    isOver = true;
    await load;
    await eventually(() => world.isQuiet(), patienceMs);

    const { fires, runs, notices } = await world.record();
    // Every slot is one run.
    expect(fires.map(({ schedule_id }) => schedule_id).toSorted()).toEqual(
      [...world.schedules].toSorted(),
    );
    expect(fires.map(({ run_id }) => run_id).toSorted()).toEqual(runs.map(({ id }) => id));
    expect(runs.every(({ status }) => status === 'completed')).toBe(true);
    // Every change has one notice, without a hole between the numbers.
    expect(notices.map(({ seq }) => Number(seq))).toEqual(notices.map((_, index) => index + 1));
    const told = (type: string) =>
      notices.flatMap(({ body }) => (body.type === type ? [body.run_id ?? ''] : [])).toSorted();
    for (const type of ['run_queued', 'run_started', 'run_completed']) {
      expect([type, told(type)]).toEqual([type, runs.map(({ id }) => id)]);
    }
    const interrupted = runs.flatMap(({ id, losses_total }) =>
      Array<string>(Number(losses_total)).fill(id),
    );
    expect(told('run_interrupted')).toEqual(interrupted);
    // Every notice was delivered under one id, with the same bytes each time.
    const sent = Map.groupBy(world.receiver.received, ({ id }) => id);
    expect([...sent.keys()].toSorted()).toEqual(
      notices.map(({ body }) => `${world.webhookId}_${body.id}`).toSorted(),
    );
    for (const { text, body } of notices) {
      const bodies = sent.get(`${world.webhookId}_${body.id}`)?.map((each) => each.body);
      expect(new Set(bodies)).toEqual(new Set([text]));
    }
  },
);

interface NoticeRow {
  readonly seq: string;
  readonly text: string;
  readonly body: { readonly id: string; readonly type: string; readonly run_id?: string };
}

class NoticeWorld {
  readonly receiver: WebhookReceiver;
  /** Ids of the schedules, each with one slot that has come. */
  readonly schedules: string[] = [];
  readonly #databaseUrl: string;
  readonly #servers: readonly MortalProcess[];
  /** The calls to each server; undefined while it is dead. */
  readonly #calls: (CheckedCalls | undefined)[] = [];
  #webhookId = '';

  private constructor(
    databaseUrl: string,
    receiver: WebhookReceiver,
    servers: readonly MortalProcess[],
  ) {
    this.#databaseUrl = databaseUrl;
    this.receiver = receiver;
    this.#servers = servers;
  }

  static async open(): Promise<NoticeWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'convoke-notice-kills-'));
    mkdirSync(join(folder, 'agents/echo'), { recursive: true });
    const described = { framework: 'scripted', script: [{ say: 'Done.' }] };
    writeFileSync(join(folder, 'agents/echo/agent.yaml'), JSON.stringify(described));
    const key = randomBytes(32).toString('base64');
    writeFileSync(join(folder, 'master.key'), key, { mode: 0o600 });
    const url = await createLocation('postgres');
    const servers = deaths.map(
      (_, index) =>
        new MortalProcess({
          CONVOKE_DATA_DIR: join(folder, `server-${index}`),
          CONVOKE_AGENTS_DIR: join(folder, 'agents'),
          CONVOKE_MASTER_KEY_FILE: join(folder, 'master.key'),
          CONVOKE_BLOBS: `file://${join(folder, 'blobs')}`,
          CONVOKE_DATABASE_URL: url,
          CONVOKE_DATABASE_CONNECTIONS: testConnections,
          CONVOKE_LEASE_SECONDS: '5',
          CONVOKE_API_RATE_PER_MINUTE: '0',
          CONVOKE_WEBHOOK_ALLOW: receiverNetwork,
        }),
    );
    onTestFinished(async () => {
      await Promise.all(servers.map((server) => server.kill()));
      removeFolderSync(folder);
    });
    const world = new NoticeWorld(url, await startReceiver(), servers);
    // The first one makes the tables and the client.
    const { url: hook } = world.receiver;
    const { body } = await (await world.#start(0)).send('create_webhook', { body: { url: hook } });
    world.#webhookId = body.webhook.id;
    await Promise.all(servers.slice(1).map((_, index) => world.#start(index + 1)));
    return world;
  }

  async #start(index: number): Promise<CheckedCalls> {
    const server = this.#servers[index];
    if (server === undefined) throw new Error(`there is no server ${index}`);
    const quickstart = await server.start();
    const client = selecting(quickstart, await requestToken(quickstart.base_url, quickstart));
    const calls = new CheckedCalls(quickstart.base_url, () => client);
    this.#calls[index] = calls;
    return calls;
  }

  async dieInTurn(index: number, planned: readonly Death[]): Promise<void> {
    for (const death of planned) {
      await this.#servers[index]?.dieAt(death);
      this.#calls[index] = undefined;
      // The leases of its deliveries are over: half a minute passes.
      await this.#query(
        `update webhook_deliveries set lease_expires_at = 0 where status = 'sending'`,
      );
      await this.#start(index);
    }
  }

  /** Creates schedules whose slot has just come, as long as few wait for their run. */
  async keepFiring(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await eventually(async () => isOver() || (await this.#unfired()) < 4, patienceMs);
      const slot = new Date(Math.floor((Date.now() - minute) / minute) * minute);
      const on = `${slot.getUTCDate()} ${slot.getUTCMonth() + 1}`;
      const key = `schedule-${this.schedules.length}`;
      const body = {
        name: key,
        agent_name: 'echo',
        cron: `${slot.getUTCMinutes()} ${slot.getUTCHours()} ${on} *`,
        input: { prompt: 'go' },
        idempotency_key: key,
      };
      // Each request that a death interrupts is repeated, with the same key.
      const { id } = await eventually(async () => {
        const alive = this.#calls.filter((calls) => calls !== undefined);
        const calls = alive[this.schedules.length % alive.length];
        return calls && (await calls.send('create_schedule', { body })).body;
      }, patienceMs);
      this.schedules.push(id);
      // Too many schedules of one tenant would be refused.
      await this.#query(`delete from schedules where last_slot_at is not null`);
      await this.#query(`update schedules set next_at = ${slot.getTime()} where id = '${id}'`);
    }
  }

  async #unfired(): Promise<number> {
    const rows = await this.#query(`select id from schedules where last_slot_at is null`);
    return rows.length;
  }

  /** Whether nothing is left to fire, to run, to number or to deliver. */
  async isQuiet(): Promise<boolean> {
    const open = await this.#query(`select
      (select count(*) from schedules where last_slot_at is null)
      + (select count(*) from runs where ended_at is null)
      + (select count(*) from outbox)
      + (select count(*) from webhook_deliveries where status <> 'delivered') as count`);
    return Number((open[0] as { count: string }).count) === 0;
  }

  get webhookId(): string {
    return this.#webhookId;
  }

  async record() {
    const rows = await this.#query(`select seq, body from notices order by seq`);
    return {
      fires: (await this.#query(`select schedule_id, run_id from schedule_fires`)) as {
        readonly schedule_id: string;
        readonly run_id: string;
      }[],
      runs: (await this.#query(
        `select id, status, losses_total from runs order by id collate "C"`,
      )) as {
        readonly id: string;
        readonly status: string;
        readonly losses_total: string;
      }[],
      notices: (rows as { seq: string; body: string }[]).map(
        ({ seq, body: text }): NoticeRow => ({ seq, text, body: JSON.parse(text) }),
      ),
    };
  }

  #query(text: string): Promise<unknown[]> {
    return query(this.#databaseUrl, text);
  }
}
