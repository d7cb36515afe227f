import { requestToken } from '../caller.ts';
import { type Check, ownerCheck } from '../check.ts';
import { ensure, same } from '../failure.ts';
import { at, listAt, textAt, timeAt } from '../fields.ts';
import type { Kit } from '../kit.ts';
import { newKey } from '../owner.ts';
import { hasStatus } from '../server.ts';
import { hasNoSecret } from './clients.ts';
import { waitFor } from '../steps.ts';

interface Rotating {
  readonly path: string;
  readonly clientId: string;
  readonly firstSecret: string;
  readonly firstCredential: string;
}

async function rotating(kit: Kit): Promise<Rotating> {
  const { id, clientId, secret, created } = await kit.owner.makeClient();
  return {
    path: `m2m/${id}`,
    clientId,
    firstSecret: secret,
    firstCredential: textAt(created.body, 'credential.id'),
  };
}

async function add(kit: Kit, path: string, body: object = {}): Promise<unknown> {
  const reply = await kit.owner.post(`${path}/credentials`, { label: 'second', ...body });
  hasStatus(reply, 201, 200);
  kit.secrets.add(textAt(reply.body, kit.dialect.credential.secret));
  return reply.body;
}

const daysOf = (kit: Kit, record: unknown) =>
  (timeAt(record, kit.dialect.credential.expires_at) - Date.now()) / (24 * 60 * 60_000);

export const credentialChecks: readonly Check[] = [
  ownerCheck('2-credential', 'a credential has an id, a label and an expiry', async (kit) => {
    const { path } = await rotating(kit);
    const record = at(await add(kit, path), kit.dialect.credential.record);
    textAt(record, 'id');
    same(at(record, 'label'), 'second', 'label');
    timeAt(record, kit.dialect.credential.expires_at);
    hasStatus(await kit.owner.delete(path), 204, 202);
  }),
  ownerCheck('4.3-add-credential', 'both secrets of a rotation obtain tokens', async (kit) => {
    const { path, clientId, firstSecret } = await rotating(kit);
    const added = textAt(await add(kit, path), kit.dialect.credential.secret);
    for (const clientSecret of [firstSecret, added]) {
      hasStatus(await requestToken(kit, { clientId, clientSecret }), 200);
    }
    hasStatus(await kit.owner.delete(path), 204, 202);
  }),
  ownerCheck('4.3-credential-key', 'a credential needs an Idempotency-Key', async (kit) => {
    const { path } = await rotating(kit);
    const adding = { method: 'POST', path: kit.owner.path(`${path}/credentials`) };
    hasStatus(await kit.owner.send({ ...adding, json: { label: 'second' } }), 400);
    hasStatus(await kit.owner.delete(path), 204, 202);
  }),
  ownerCheck('4.3-credential-label', 'an empty or missing label is refused', async (kit) => {
    const { path } = await rotating(kit);
    for (const body of [{ label: '' }, {}]) {
      hasStatus(await kit.owner.post(`${path}/credentials`, body), 400);
    }
    hasStatus(await kit.owner.delete(path), 204, 202);
  }),
  ownerCheck('4.3-credential-once', 'a repeated add issues no other secret', async (kit) => {
    const { path, firstCredential } = await rotating(kit);
    const key = newKey();
    const post = () => kit.owner.post(`${path}/credentials`, { label: 'second' }, key);
    const idsOf = async () => {
      const { body } = hasStatus(await kit.owner.get(path), 200);
      return listAt(body, 'credentials').map((item) => textAt(item, 'id'));
    };
    const first = hasStatus(await post(), 201, 200);
    const secret = kit.secrets.add(textAt(first.body, kit.dialect.credential.secret));
    // Makes room for another credential: the refusal must come from the key, not from the limit of two.
    hasStatus(await kit.owner.delete(`${path}/credentials/${firstCredential}`), 204, 202);
    const before = await idsOf();
    const again = await post();
    ensure(!again.text.includes(secret), 'the second answer has the secret');
    hasNoSecret(kit, again);
    same((await idsOf()).toSorted(), before.toSorted(), 'the credentials after the second request');
    hasStatus(await kit.owner.delete(path), 204, 202);
  }),
  ownerCheck('4.3-revoke', 'a credential is revoked', async (kit) => {
    const { path, firstCredential } = await rotating(kit);
    hasStatus(await kit.owner.delete(`${path}/credentials/${firstCredential}`), 204, 202);
    hasStatus(await kit.owner.delete(path), 204, 202);
  }),
  ownerCheck('3-credential-revoked', 'a revoked credential obtains no token', async (kit) => {
    const { path, clientId, firstSecret, firstCredential } = await rotating(kit);
    const added = textAt(await add(kit, path), kit.dialect.credential.secret);
    hasStatus(await requestToken(kit, { clientId, clientSecret: firstSecret }), 200);
    hasStatus(await kit.owner.delete(`${path}/credentials/${firstCredential}`), 204, 202);
    await waitFor('the revoked credential obtains no token', async () => {
      const { status } = await requestToken(kit, { clientId, clientSecret: firstSecret });
      return status >= 400 && status < 500;
    });
    hasStatus(await requestToken(kit, { clientId, clientSecret: added }), 200);
    hasStatus(await kit.owner.delete(path), 204, 202);
  }),
  ownerCheck('3-credential-tokens', 'a token of before a revocation still works', async (kit) => {
    const client = await kit.owner.makeClient();
    const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
    hasStatus(await caller.get('/v1/agents'), 200);
    const credential = textAt(client.created.body, 'credential.id');
    hasStatus(await kit.owner.delete(`m2m/${client.id}/credentials/${credential}`), 204, 202);
    hasStatus(await caller.get('/v1/agents'), 200);
    hasStatus(await kit.owner.delete(`m2m/${client.id}`), 204, 202);
  }),
  ownerCheck('8-credentials', 'a third live credential is a conflict', async (kit) => {
    const { path, firstCredential } = await rotating(kit);
    await add(kit, path);
    hasStatus(await kit.owner.post(`${path}/credentials`, { label: 'third' }), 409);
    hasStatus(await kit.owner.delete(`${path}/credentials/${firstCredential}`), 204, 202);
    await add(kit, path, { label: 'third' });
    hasStatus(await kit.owner.delete(path), 204, 202);
  }),
  ownerCheck('8-days-default', 'a credential lives for 90 days by default', async (kit) => {
    const { id, created } = await kit.owner.makeClient();
    const days = daysOf(kit, at(created.body, 'credential'));
    ensure(days > 89 && days < 91, `it lives for ${days} days`);
    hasStatus(await kit.owner.delete(`m2m/${id}`), 204, 202);
  }),
  ownerCheck('8-days-max', '365 days are accepted, 366 are not', async (kit) => {
    const { id, created } = await kit.owner.makeClient({ expires_in_days: 365 });
    const days = daysOf(kit, at(created.body, 'credential'));
    ensure(days > 364 && days < 366, `it lives for ${days} days`);
    const longer = { label: 'second', expires_in_days: 366 };
    hasStatus(await kit.owner.post(`m2m/${id}/credentials`, longer), 400);
    const client = { name: 'Conformance', profile: 'observe', expires_in_days: 366 };
    hasStatus(await kit.owner.post('m2m', client), 400);
    hasStatus(await kit.owner.delete(`m2m/${id}`), 204, 202);
  }),
];
