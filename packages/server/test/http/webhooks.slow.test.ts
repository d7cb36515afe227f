import { type JsonObject, type WebhookRecord, limits, tenantId } from '@convoke/contract';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { addClient, addTenant } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { quietWebhook } from '../support/tenant-data.ts';
import { receiverNetwork, startReceiver } from '../support/webhook-receiver.ts';

const quiet = { ...quietWebhook, url: 'https://192.0.2.1:8443/hook' };

describe.each(databaseKinds)('webhooks over HTTP on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, env: { CONVOKE_WEBHOOK_ALLOW: receiverNetwork } });
  });

  /** A tenant of its own for each test: what happens in one is sent to its webhooks only. */
  async function newTenant() {
    const id = await addTenant(server, 'Hooked');
    const as = (await addClient(server, {})).in(id);
    const create = async (body: JsonObject) =>
      (await server.send('create_webhook', { as, body })).body;
    const of = ({ id: webhook_id }: Pick<WebhookRecord, 'id'>) => ({ as, params: { webhook_id } });
    const invoke = async (agent_name = 'echo', labels = {}) => {
      const { body: session } = await server.send('create_session', { as, body: { agent_name } });
      const params = { session_id: session.id };
      const body = { input: { prompt: 'a prompt that no notice holds' }, labels };
      return (await server.send('start_run', { as, params, body })).body;
    };
    const deliveries = async (webhook: WebhookRecord, query: Record<string, string> = {}) =>
      (await server.send('list_deliveries', { ...of(webhook), query })).body.deliveries;
    return { id, as, create, of, invoke, deliveries };
  }

  test('a new webhook shows its secret once (D-120, D-124)', async () => {
    const { as, of } = await newTenant();
    const body = { ...quiet, description: 'Mine', idempotency_key: 'hook' };
    const { status, body: issued } = await server.send('create_webhook', { as, body });
    expect(status).toBe(201);
    expect(issued).toEqual({
      webhook: {
        ...quiet,
        id: expect.stringMatching(/^wh_[0-9a-hjkmnp-tv-z]{26}$/),
        description: 'Mine',
        status: 'active',
        secret_hint: issued.secret?.slice(-4),
        version: 1,
        created_by_name: 'Client',
        created_by: expect.stringMatching(/^cli_/),
        created_at: expect.stringMatching(/\.\d{3}Z$/),
        updated_at: issued.webhook.created_at,
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    // The secret is issued once (D-491).
    const again = await server.refused('create_webhook', { as, body });
    expect(again).toMatchObject({ status: 409, error: 'secret_already_issued' });
    expect(again.text).not.toContain(issued.secret);
    const other = { ...body, types: ['*'] };
    expect((await server.refused('create_webhook', { as, body: other })).error).toBe(
      'idempotency_conflict',
    );
    await server.send('delete_webhook', of(issued.webhook));
    expect((await server.refused('create_webhook', { as, body })).error).toBe(
      'secret_already_issued',
    );
  });

  test.each([
    'http://example.com/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://user@192.0.2.1/',
    'https://192.0.2.1:25/',
    'nonsense',
  ])('%s is refused, and names the field (D-123)', async (url) => {
    const { as, create, of } = await newTenant();
    const refused = await server.refused('create_webhook', { as, body: { url } });
    expect(refused).toMatchObject({ status: 400, error: 'invalid_webhook_url' });
    expect(refused.message).toMatch(/^url: /);
    const { webhook } = await create(quiet);
    const changed = await server.refused('update_webhook', {
      ...of(webhook),
      body: { version: 1, url },
    });
    expect(changed.error).toBe('invalid_webhook_url');
  });

  test('a tenant has at most 20, also when many are asked for at once', async () => {
    const { as } = await newTenant();
    const max = limits.webhooksPerTenant;
    const asked = Array.from({ length: max + 3 }, () =>
      server.fetch('POST', '/v1/webhooks', { as, body: quiet }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(max);
    const refused = await server.refused('create_webhook', { as, body: quiet });
    expect(refused).toMatchObject({ status: 409, error: 'webhook_limit_reached' });
  });

  test('is listed, read, changed and deleted; every change is a row of the audit', async () => {
    const { as, create, of } = await newTenant();
    const { webhook, secret } = await create({ ...quiet, agent_names: ['echo'] });
    const { body: page } = await server.send('list_webhooks', { as });
    expect(page.webhooks).toEqual([webhook]);
    expect((await server.send('get_webhook', of(webhook))).body).toEqual(webhook);
    const change = { version: 1, types: ['*'], agent_names: [], status: 'disabled' };
    const { body: changed } = await server.send('update_webhook', { ...of(webhook), body: change });
    expect(changed).toMatchObject({ types: ['*'], status: 'disabled', version: 2 });
    expect(changed.agent_names).toBeUndefined();
    const stale = await server.refused('update_webhook', { ...of(webhook), body: change });
    expect(stale).toMatchObject({ status: 409, error: 'version_conflict' });
    await server.send('rotate_webhook', of(webhook));
    expect((await server.send('delete_webhook', of(webhook))).status).toBe(204);
    expect((await server.refused('get_webhook', of(webhook))).error).toBe('not_found');
    // D-490: the second one changes nothing, so that there is no row of it below.
    expect((await server.send('delete_webhook', of(webhook))).status).toBe(204);
    const rows = await server.convoke.services.store.read.audit.newest(undefined, 50);
    const ours = rows.filter(({ object }) => object === webhook.id);
    expect(ours.map(({ action }) => action).toReversed()).toEqual([
      'webhook.create',
      'webhook.update',
      'webhook.rotate',
      'webhook.delete',
    ]);
    expect(JSON.stringify(ours)).not.toContain(secret.slice(6));
  });

  test('receivers of other makers accept every notice: its bytes are those of the feed (D-121)', async () => {
    const { as, create, invoke } = await newTenant();
    const secrets = new Map<string, string>();
    const verdicts: unknown[] = [];
    const verifying = (
      make: (secret: string) => { verify(body: string, headers: Record<string, string>): unknown },
      name: string,
    ) =>
      startReceiver(({ body, headers }) => {
        try {
          make(secrets.get(name) ?? '').verify(body, headers as Record<string, string>);
          return 204;
        } catch (error) {
          verdicts.push(error);
          return 400;
        }
      });
    const standard = await verifying((secret) => new Standard(secret), 'standard');
    const svix = await verifying((secret) => new Svix(secret), 'svix');
    for (const [name, { url }] of Object.entries({ standard, svix })) {
      secrets.set(name, (await create({ url })).secret ?? '');
    }
    await invoke();
    const types = ['session_created', 'run_queued', 'run_started', 'run_completed'];
    await eventually(
      () => standard.received.length >= types.length && svix.received.length >= types.length,
    );
    expect(verdicts).toEqual([]);
    const headers = { accept: 'application/json' };
    const { text } = await server.send('follow_tenant_events', { as, headers });
    for (const { received } of [standard, svix]) {
      expect(new Set(received.map(({ body }) => JSON.parse(body).type))).toEqual(new Set(types));
      expect(new Set(received.map(({ id }) => id)).size).toBe(received.length);
      for (const { body } of received) {
        expect(text).toContain(body);
        expect(body).not.toContain('a prompt');
      }
    }
    const [{ body, headers: sent } = { body: '', headers: {} }] = standard.received;
    const check = new Standard(secrets.get('standard') ?? '');
    const altered = body.replace(/"type":"[a-z_]+"/, '"type":"run_failed"');
    const plain = sent as Record<string, string>;
    expect(() => check.verify(altered, plain)).toThrow(/signature/i);
    expect(() => check.verify(body, { ...plain, 'webhook-timestamp': '1' })).toThrow(/timestamp/i);
    expect(() => check.verify(body, {})).toThrow(/header/i);
  });

  test('sends only what the webhook selects: types, agents and labels', async () => {
    const { create, deliveries, invoke } = await newTenant();
    const receiver = await startReceiver();
    const all = await startReceiver();
    await create({ url: receiver.url, types: ['run_completed'], agent_names: ['echo'] });
    await create({ url: all.url, types: ['run_completed', 'run_waiting'] });
    const labels = { team: 'payments' };
    const { webhook: ours } = await create({ url: receiver.url, types: ['run_waiting'], labels });
    await invoke('asker');
    await invoke('asker', { team: 'payments', ticket: 'x' });
    const run = await invoke('echo');
    await eventually(() => all.received.length === 3);
    await eventually(() => receiver.received.length === 2);
    const received = receiver.received.map(({ body }) => JSON.parse(body));
    expect(received.filter(({ type }) => type === 'run_completed')).toMatchObject([
      { run_id: run.id },
    ]);
    expect(received.filter(({ type }) => type === 'run_waiting')).toMatchObject([
      { data: { labels: { team: 'payments', ticket: 'x' } } },
    ]);
    expect(await deliveries(ours)).toHaveLength(1);
  });

  test('labels that are none are refused, and name the key', async () => {
    const { as, create, of } = await newTenant();
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v']));
    const { webhook } = await create({ ...quiet, labels: { team: 'a', tier: 'b' } });
    expect(webhook.labels).toEqual({ team: 'a', tier: 'b' });
    for (const [labels, status, error] of [
      [{ Team: 'a' }, 400, 'invalid_label'],
      [many, 409, 'label_limit_reached'],
    ] as const) {
      const made = await server.refused('create_webhook', { as, body: { ...quiet, labels } });
      expect(made).toMatchObject({ status, error });
      expect(made.message).toMatch(/^labels: /);
      const body = { version: 1, labels };
      const changed = await server.refused('update_webhook', { ...of(webhook), body });
      expect(changed).toMatchObject({ status, error });
    }
    const fewer = { version: 1, labels: { team: 'a' } };
    const { body: changed } = await server.send('update_webhook', { ...of(webhook), body: fewer });
    expect(changed.labels).toEqual({ team: 'a' });
    const none = { version: 2, labels: {} };
    const { body: free } = await server.send('update_webhook', { ...of(webhook), body: none });
    expect(free.labels).toBeUndefined();
  });

  test('both secrets sign after a rotation, so that no delivery is refused under load', async () => {
    const { create, of, invoke } = await newTenant();
    const known = new Set<string>();
    let refusals = 0;
    const receiver = await startReceiver(({ body, headers }) => {
      const accepts = (secret: string) => {
        try {
          new Standard(secret).verify(body, headers as Record<string, string>);
          return true;
        } catch {
          return false;
        }
      };
      // It knows one secret at a time, and changes late.
      if ([...known].slice(0, 1).some(accepts)) return 204;
      refusals += 1;
      return 400;
    });
    const { webhook, secret } = await create({ url: receiver.url });
    known.add(secret);
    const runs = Array.from({ length: 8 }, () => invoke());
    const rotated = await server.send('rotate_webhook', of(webhook));
    expect(rotated.body.secret).not.toBe(secret);
    await Promise.all(runs);
    await Promise.all(Array.from({ length: 4 }, () => invoke()));
    await eventually(() => receiver.received.length >= 12 * 4);
    expect(refusals).toBe(0);
    const [last] = receiver.received.slice(-1);
    const fresh = new Standard(rotated.body.secret ?? '');
    expect(() =>
      fresh.verify(last?.body ?? '', last?.headers as Record<string, string>),
    ).not.toThrow();
  });

  test('a test, a delivery again and a replay have the same ids as before (D-122)', async () => {
    const { id, as, create, of, invoke, deliveries } = await newTenant();
    const receiver = await startReceiver();
    await invoke();
    const { webhook } = await create({ url: receiver.url, types: ['run_completed'] });
    const { status, body: tried } = await server.send('test_webhook', of(webhook));
    expect({ status, type: tried.type }).toEqual({ status: 202, type: 'webhook_test' });
    await eventually(() => receiver.received.some(({ id: seen }) => seen === tried.message_id));
    // The notice of the run may be numbered after the webhook was created, and then has a delivery too.
    const done = await eventually(async () =>
      (await deliveries(webhook, { status: 'delivered' })).find(
        ({ id: sent }) => sent === tried.id,
      ),
    );
    expect(done).toMatchObject({ tries: 1, response_status: 204 });
    const params = { webhook_id: webhook.id, delivery_id: tried.id };
    expect((await server.send('redeliver', { as, params })).status).toBe(202);
    await eventually(
      () => receiver.received.filter(({ id: seen }) => seen === tried.id).length === 2,
    );

    const after_id = '0000000000000000';
    // The run from before the webhook was created may still be on its way to the feed.
    const replayed = await eventually(async () => {
      const call = { ...of(webhook), body: { after_id } };
      const { body } = await server.send('replay_webhook', call);
      return body.deliveries === 1 && body;
    });
    expect(replayed).toMatchObject({ has_more: false });
    const arrived = await eventually(() =>
      receiver.received.find(({ body }) => JSON.parse(body).type === 'run_completed'),
    );
    expect(arrived.id).toMatch(new RegExp(`^${webhook.id}_\\d{16}$`));
    const bad = await server.refused('replay_webhook', { ...of(webhook), body: { after_id: 'x' } });
    expect(bad).toMatchObject({ status: 400, error: 'invalid_body' });

    const { store, clock } = server.convoke.services;
    await store.transaction(async (tx) => {
      await tx.feeds.tryLock(tenantId(id));
      await tx.feeds.forget(tenantId(id), clock.now() + 1, 500);
    });
    const late = { ...of(webhook), body: { after_id: '0000000000000001' } };
    expect(await server.refused('replay_webhook', late)).toMatchObject({
      status: 410,
      error: 'cursor_expired',
    });
  });

  test('a delivery shows the bytes that were sent, and the response (D-310)', async () => {
    const { id, as, create, of, invoke, deliveries } = await newTenant();
    const receiver = await startReceiver(() => 418);
    const { webhook, secret } = await create({ url: receiver.url, types: ['run_completed'] });
    await invoke();
    const tried = await eventually(async () =>
      (await deliveries(webhook)).find(({ response_status: status }) => status === 418),
    );
    const params = { webhook_id: webhook.id, delivery_id: tried.id };
    const { body: read } = await server.send('get_delivery', { as, params });
    const [sent] = receiver.received;
    expect(read).toMatchObject({ id: tried.id, message_id: sent?.id, response_status: 418 });
    expect(read.request_body).toBe(sent?.body);
    expect(JSON.stringify(read)).not.toContain(secret.slice('whsec_'.length));
    const { body: made } = await server.send('test_webhook', of(webhook));
    const ofTest = { webhook_id: webhook.id, delivery_id: made.id };
    const { body: test } = await server.send('get_delivery', { as, params: ofTest });
    expect(JSON.parse(test.request_body ?? '')).toMatchObject({ id: made.id });

    const narrow = (await addClient(server, { profile: 'custom', scopes: ['webhooks:read'] })).in(
      id,
    );
    expect((await server.send('list_deliveries', { ...of(webhook), as: narrow })).status).toBe(200);
    const refused = await server.refused('get_delivery', { as: narrow, params });
    expect(refused).toMatchObject({ status: 403, error: 'insufficient_scope' });
    const other = { webhook_id: (await create(quiet)).webhook.id, delivery_id: tried.id };
    expect((await server.refused('get_delivery', { as, params: other })).error).toBe('not_found');

    const { store, clock } = server.convoke.services;
    await store.transaction(async (tx) => {
      await tx.feeds.tryLock(tenantId(id));
      await tx.feeds.forget(tenantId(id), clock.now() + 1, 500);
    });
    const { body: late } = await server.send('get_delivery', { as, params });
    expect(late).toMatchObject({ id: tried.id, response_status: 418 });
    expect(late.request_body).toBeUndefined();
  });

  test('410 disables the webhook, with a notice; enabled again it sends what is pending', async () => {
    const { as, create, of, invoke, deliveries } = await newTenant();
    let status = 410;
    const receiver = await startReceiver(() => status);
    const { webhook } = await create({ url: receiver.url, types: ['run_completed'] });
    await invoke();
    const disabled = await eventually(async () => {
      const { body } = await server.send('get_webhook', of(webhook));
      return body.status === 'disabled' && body;
    });
    expect(disabled).toMatchObject({ status_reason: 'gone', version: 2 });
    const [failed] = await deliveries(webhook, { status: 'failed' });
    expect(failed).toMatchObject({ tries: 1, response_status: 410 });
    await eventually(async () => {
      const headers = { accept: 'application/json' };
      const { text } = await server.send('follow_tenant_events', { as, headers });
      return text.includes('"webhook_disabled"');
    });
    status = 204;
    await server.send('test_webhook', of(webhook));
    await server.send('update_webhook', { ...of(webhook), body: { version: 2, status: 'active' } });
    await eventually(async () => (await deliveries(webhook, { status: 'delivered' })).length === 1);
  });

  test('a receiver that never answers holds up no other and no run', async () => {
    const { create, invoke, deliveries } = await newTenant();
    const silent = await startReceiver(() => undefined);
    const quick = await startReceiver();
    const { webhook } = await create({ url: silent.url });
    await create({ url: quick.url });
    for (let run = 0; run < 5; run += 1) await invoke();
    await eventually(() => quick.received.length === 20);
    const sending = await deliveries(webhook, { status: 'sending' });
    expect(sending.length).toBeLessThanOrEqual(4);
  });
});
