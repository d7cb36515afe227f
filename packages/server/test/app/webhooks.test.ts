import { describe, expect, test } from 'vitest';
import { createWebhookSecrets } from '../../src/auth/webhook-secrets.ts';
import { numberNotices } from '../../src/app/feed/number-notices.ts';
import { createWebhook } from '../../src/app/webhooks/webhooks.ts';
import { readAllowList } from '../../src/egress/allow-list.ts';
import { createTenantLookups } from '../../src/egress/tenant-lookups.ts';
import { createWebhookSender } from '../../src/egress/webhook-sender.ts';
import type { Store } from '../../src/ports/store.ts';
import { createIds } from '../../src/runtime/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { createStore } from '../../src/store/store.ts';
import { WebhookDeliverer } from '../../src/workers/webhook-deliverer.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { by } from '../support/identity-fixture.ts';
import { quietLog } from '../support/quiet-log.ts';
import { createRunFixture } from '../support/run-fixture.ts';
import { receiverNetwork, startReceiver } from '../support/webhook-receiver.ts';

const second = 1000;
const page = { limit: 1000, order: 'asc' } as const;

async function createWorld(kind: DatabaseKind, url: string) {
  const world = await createRunFixture(kind);
  const { clock, scope } = world;
  const services = {
    ...world,
    log: quietLog,
    ids: createIds(clock),
    webhookSecrets: createWebhookSecrets(Buffer.alloc(32, 7)),
    webhookSender: createWebhookSender({
      allow: readAllowList('CONVOKE_WEBHOOK_ALLOW', [receiverNetwork]),
      clock,
      resolve: createTenantLookups({ clock }),
    }),
  };
  const { webhook } = await createWebhook(services, scope, {
    fields: {
      url,
      description: null,
      types: ['run_queued'],
      agentNames: null,
      createdBy: { kind: 'client', id: 'cli_1' },
    },
    idempotencyKey: undefined,
    by,
    chargeRate: () => {},
  });

  /** Starts runs, each of which is one notice that the webhook selects. */
  const notify = async (count: number) => {
    for (let run = 0; run < count; run += 1) await world.start(await world.open());
    while (await numberNotices(services, scope.tenantId));
  };
  const deliveries = () => world.store.read.deliveries.list(scope, { webhookId: webhook.id }, page);
  const statuses = async () => (await deliveries()).map(({ status }) => status);
  /** Another server on the same database. */
  const server = async (owner: string, wrap = (store: Store) => store) => {
    const database = kind === 'sqlite' ? world.database : await openTestDatabase(kind, world);
    return new WebhookDeliverer({ ...services, store: wrap(createStore(database)) }, owner);
  };
  const settled = (wanted: (list: readonly string[]) => boolean) =>
    eventually(async () => wanted(await statuses()));
  return { ...world, services, webhook, notify, deliveries, statuses, server, settled };
}

const areAll = (status: string) => (list: readonly string[]) =>
  list.length > 0 && list.every((one) => one === status);

describe.each(databaseKinds)('deliveries on %s', (kind) => {
  test('are made with the numbers of their notices, one each, and sent', async () => {
    const receiver = await startReceiver();
    const world = await createWorld(kind, receiver.url);
    await world.notify(10);
    expect(await world.statuses()).toHaveLength(10);
    const server = await world.server('a');
    await eventually(async () => {
      await server.deliver();
      return areAll('delivered')(await world.statuses());
    });
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(10);
    expect(receiver.received).toHaveLength(10);
    const found = await world.store.read.webhooks.find(world.scope, world.webhook.id);
    expect(found).toMatchObject({ lastSuccessAt: world.clock.now(), failingSince: null });
  });

  test('that a server leased and never sent are sent by another, with one id (D-121)', async () => {
    const receiver = await startReceiver();
    const world = await createWorld(kind, receiver.url);
    await world.notify(1);
    // It dies between the commit of the lease and the request.
    const unsent = await world.server('dies', (store) => ({ ...store, read: refusing(store) }));
    await unsent.deliver().catch(() => {});
    const leased = await world.store.transaction((tx) =>
      tx.deliveries.claim(world.webhook.id, {
        owner: 'dies',
        now: world.clock.now(),
        expiresAt: world.clock.now() + 30 * second,
        limit: 1,
      }),
    );
    expect(leased).toHaveLength(1);
    const other = await world.server('lives');
    await other.deliver();
    expect(receiver.received).toEqual([]);
    world.clock.advance(30 * second);
    await other.deliver();
    await world.settled(areAll('delivered'));
    expect(receiver.received.map(({ id }) => id)).toEqual([`${world.webhook.id}_0000000000000002`]);
  });

  test('whose server dies during the request, or after the answer, come again with the same id', async () => {
    let answers = 0;
    const receiver = await startReceiver(() => {
      answers += 1;
      return answers === 1 ? undefined : 204;
    });
    const world = await createWorld(kind, receiver.url);
    await world.notify(1);
    const during = await world.server('during');
    await during.deliver();
    await eventually(() => receiver.received.length === 1);
    await during.stop();
    expect(await world.statuses()).toEqual(['sending']);
    world.clock.advance(30 * second);

    // The answer arrives, and its record is never written.
    let commits = 0;
    const after = await world.server('after', (store) => ({
      ...store,
      read: store.read,
      transaction: (work) => {
        commits += 1;
        // The first frees the expired lease, the second takes it, the third would record the answer.
        if (commits === 3) return Promise.reject(new Error('died after the answer'));
        return store.transaction(work);
      },
    }));
    await after.deliver();
    await eventually(() => receiver.received.length === 2 && commits === 3);
    await after.stop();
    expect(await world.statuses()).toEqual(['sending']);
    world.clock.advance(30 * second);
    const last = await world.server('last');
    await last.deliver();
    await world.settled(areAll('delivered'));
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  });

  test('of one webhook are sent by three servers four at once, and by one while it fails', async () => {
    const held: (() => void)[] = [];
    const receiver = await startReceiver(
      () => new Promise<number>((resolve) => held.push(() => resolve(500))),
    );
    const world = await createWorld(kind, receiver.url);
    await world.notify(12);
    const servers = await Promise.all(['a', 'b', 'c'].map((owner) => world.server(owner)));
    await Promise.all(servers.map((server) => server.deliver()));
    for (const server of servers) await server.deliver();
    const sending = async () => (await world.statuses()).filter((one) => one === 'sending').length;
    expect(await sending()).toBe(4);
    await eventually(() => held.length === 4);
    for (const answer of held.splice(0)) answer();
    await eventually(async () => (await sending()) === 0);
    world.clock.advance(60 * second);
    for (const server of servers) await server.deliver();
    expect(await sending()).toBe(1);
    await eventually(() => held.length === 1);
    for (const answer of held.splice(0)) answer();
    await Promise.all(servers.map((server) => server.stop()));
  });

  test('to a dead receiver disable it after five days, and the feed says so (D-122)', async () => {
    const world = await createWorld(kind, 'http://127.0.0.1:1025/');
    await world.notify(2);
    const server = await world.server('a');
    const attempt = async () => {
      const before = (await world.deliveries()).reduce((sum, { tries }) => sum + tries, 0);
      await server.deliver();
      await eventually(async () => {
        const list = await world.deliveries();
        const isIdle = list.every(({ status }) => status !== 'sending');
        return isIdle && list.reduce((sum, { tries }) => sum + tries, 0) > before;
      });
    };
    await attempt();
    const read = () => world.store.read.webhooks.find(world.scope, world.webhook.id);
    expect(await read()).toMatchObject({ status: 'active', failingSince: world.clock.now() });
    world.clock.advance(5 * 24 * 3600 * second);
    await attempt();
    expect(await read()).toMatchObject({ status: 'disabled', statusReason: 'failing' });
    await server.deliver();
    while (await numberNotices(world.services, world.scope.tenantId));
    const told = await world.database.all<{ body: string }>(
      sql`select body from notices where type = 'webhook_disabled'`,
    );
    expect(told).toHaveLength(1);
    const [row] = await world.store.read.audit.newest(world.scope.organizationId, 1);
    expect(row).toMatchObject({ action: 'webhook.disable', object: world.webhook.id });
  });
});

/** Reads fail: the server gets no further than its first statement. */
function refusing(store: Store): Store['read'] {
  return new Proxy(store.read, {
    get: () => {
      throw new Error('died');
    },
  });
}
