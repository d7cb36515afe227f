import { expect, test } from 'vitest';
import { testWebhook } from '../../src/app/webhooks/deliveries.ts';
import { createWebhook } from '../../src/app/webhooks/webhooks.ts';
import { createWebhookSecrets } from '../../src/auth/webhook-secrets.ts';
import type { TenantScope } from '../../src/domain/scope.ts';
import { readAllowList } from '../../src/egress/allow-list.ts';
import { createTenantLookups } from '../../src/egress/tenant-lookups.ts';
import { createWebhookSender } from '../../src/egress/webhook-sender.ts';
import { createIds } from '../../src/runtime/ids.ts';
import { WebhookDeliverer } from '../../src/workers/webhook-deliverer.ts';
import { eventually } from '../support/eventually.ts';
import { by } from '../support/identity-fixture.ts';
import { startNameServer } from '../support/name-server.ts';
import { quietLog } from '../support/quiet-log.ts';
import { createRunFixture } from '../support/run-fixture.ts';
import { receiverNetwork, startReceiver } from '../support/webhook-receiver.ts';

/** Two tenants of one organization, and a server that delivers. The time stands still unless a test moves it. */
async function createWorld() {
  const world = await createRunFixture('sqlite');
  const { clock, scope: attacker, seed } = world;
  const names = await startNameServer({ 'bystander.example': '127.0.0.1' });
  const services = {
    ...world,
    log: quietLog,
    ids: createIds(clock),
    webhookSecrets: createWebhookSecrets(Buffer.alloc(32, 7)),
    webhookSender: createWebhookSender({
      allow: readAllowList('CONVOKE_WEBHOOK_ALLOW', [receiverNetwork]),
      clock,
      resolve: createTenantLookups({ clock, servers: [names.address] }),
    }),
  };
  const addTenant = async () => {
    const { organizationId } = attacker;
    return { organizationId, tenantId: (await seed.tenant(organizationId)).id };
  };
  const bystander = await addTenant();
  const open = async (scope: TenantScope, url: string) => {
    const fields = {
      url,
      description: null,
      types: ['run_queued'] as const,
      agentNames: null,
      createdBy: { kind: 'client', id: 'cli_1' } as const,
    };
    const request = { fields, idempotencyKey: undefined, by, chargeRate: () => {} };
    return (await createWebhook(services, scope, request)).webhook;
  };
  const deliverer = new WebhookDeliverer(services, 'server');
  return { services, clock, names, attacker, bystander, addTenant, open, deliverer };
}

test('a webhook arrives while another tenant creates webhooks whose name server is silent', async () => {
  const world = await createWorld();
  const { services, names, deliverer } = world;
  const attack = Array.from({ length: 30 }, (_, each) =>
    world.open(world.attacker, `https://${each}.slow.example/`).catch((error: unknown) => error),
  );
  const slowAsked = () => new Set(names.asked.filter((name) => name.endsWith('.slow.example')));
  await eventually(() => slowAsked().size === 2);

  const receiver = await startReceiver();
  const url = receiver.url.replace('127.0.0.1', 'bystander.example');
  const webhook = await world.open(world.bystander, url);
  await testWebhook(services, world.bystander, webhook.id);
  await deliverer.deliver();
  await eventually(() => receiver.received.length === 1);
  // The time has stood still: every name of the attack is still looked up or waits.
  expect(slowAsked().size).toBe(2);

  let ended = 0;
  for (const each of attack) void each.then(() => (ended += 1));
  await eventually(() => {
    world.clock.advance(2000);
    return ended === attack.length;
  });
  for (const refusal of await Promise.all(attack)) {
    expect(refusal).toMatchObject({ code: 'invalid_webhook_url' });
  }
  await deliverer.stop();
});

test('a webhook arrives while the receivers of another tenant never answer', async () => {
  const world = await createWorld();
  const { services, deliverer } = world;
  const silent = await startReceiver(() => undefined);
  for (let each = 0; each < 20; each += 1) {
    const { id } = await world.open(world.attacker, silent.url);
    for (let test = 0; test < 4; test += 1) await testWebhook(services, world.attacker, id);
  }
  while (await deliverer.deliver());
  await eventually(() => silent.received.length === 16);

  const receiver = await startReceiver();
  const webhook = await world.open(world.bystander, receiver.url);
  await testWebhook(services, world.bystander, webhook.id);
  while (await deliverer.deliver());
  await eventually(() => receiver.received.length === 1);
  // A quarter of the places, however much waits.
  expect(silent.received).toHaveLength(16);
  await deliverer.stop();
});

test('a place that becomes free goes to the webhook whose turn it is', async () => {
  const world = await createWorld();
  const { services, deliverer } = world;
  const held = new Map<string, () => void>();
  const slow = await startReceiver(({ body }) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    held.set(JSON.parse(body).data.webhook_id, () => resolve(204));
    return promise;
  });
  const fill = async (scope: TenantScope) => {
    const ids: string[] = [];
    for (let each = 0; each < 5; each += 1) {
      const { id } = await world.open(scope, slow.url);
      for (let test = 0; test < 5; test += 1) await testWebhook(services, scope, id);
      ids.push(id);
    }
    return ids[0] ?? '';
  };
  // Four tenants have taken every place, and the first one has more to send.
  const busy = await fill(world.attacker);
  for (let other = 0; other < 3; other += 1) await fill(await world.addTenant());
  while (await deliverer.deliver());
  await eventually(() => slow.received.length === 64);

  const receiver = await startReceiver();
  const webhook = await world.open(world.bystander, receiver.url);
  await testWebhook(services, world.bystander, webhook.id);
  while (await deliverer.deliver());
  expect(receiver.received).toEqual([]);
  held.get(busy)?.();
  await eventually(async () => {
    await deliverer.deliver();
    return receiver.received.length + slow.received.length === 65;
  });
  expect(receiver.received).toHaveLength(1);
  await deliverer.stop();
});
