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
  const other = await seed.tenant(attacker.organizationId);
  const bystander = { organizationId: attacker.organizationId, tenantId: other.id };
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
  return { services, clock, names, attacker, bystander, open, deliverer };
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
