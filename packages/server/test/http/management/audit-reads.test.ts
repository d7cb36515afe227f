import { randomUUID } from 'node:crypto';
import { organizationId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { digest } from '../../../src/app/audit.ts';
import { type AuditChain, type AuditRow, auditText } from '../../../src/domain/audit.ts';
import { checkAudit } from '../../../src/workers/check-audit.ts';
import { databaseKinds } from '../../support/databases.ts';
import {
  type Organization,
  addClient,
  addOrganization,
  addPerson,
} from '../../support/identities.ts';
import { type TestServer, requestToken, startServer } from '../../support/server.ts';
import { operator } from '../../support/sign-in/steps.ts';

describe.each(databaseKinds)('the audit log over HTTP, on %s', (database) => {
  let server: TestServer;
  let acme: Organization;
  beforeAll(async () => {
    server = await startServer({ database });
    acme = await addOrganization(server, 'Acme');
  });
  const list = async (query: Readonly<Record<string, string>> = {}, of = acme) => {
    const params = { organization_id: of.organization_id };
    return (await server.send('list_audit', { as: of.owner, params, query })).body;
  };

  /** Records an action on each object. All rows go to the database together. */
  const record = (chain: AuditChain, objects: readonly string[]) => {
    const { store, clock } = server.convoke.services;
    return store.transaction(async (tx) => {
      let { seq, hash } = await tx.audit.lockHead(chain);
      const rows = objects.map((object): AuditRow => {
        const entry = { by: operator, action: 'keys.rotate', object, outcome: 'done' } as const;
        const place = { chain, seq: (seq += 1), at: clock.now(), previousHash: hash };
        const content = { ...entry, ...place, details: {} };
        hash = digest(auditText(content));
        return { ...content, hash };
      });
      await Promise.all(rows.map((row) => tx.audit.append(row)));
    });
  };

  test('shows who did what, with names, newest first', async () => {
    const client = await addClient(server, { name: 'Reports' }, acme);
    const { rows } = await list({ limit: '2' });
    expect(rows[0]).toEqual({
      seq: expect.any(Number),
      at: expect.stringMatching(/Z$/),
      actor: { kind: 'client', id: client.record.id, name: 'Reports' },
      action: 'token.issue',
      object: expect.stringMatching(/^tok_/),
      outcome: 'done',
      address: '127.0.0.1',
      request_id: expect.any(String),
      details: expect.objectContaining({ credential_id: client.credentialId }),
      hash: expect.any(String),
    });
    expect(rows[1]).toMatchObject({
      action: 'client.create',
      actor: { kind: 'user', name: expect.stringContaining('@') },
    });
  });

  test('filters by action, actor, object, outcome and time, and pages in both directions', async () => {
    const client = await addClient(server, { name: 'Filtered' }, acme);
    for (let index = 0; index < 4; index += 1) await requestToken(server.baseUrl, client);
    const member = await addPerson(server, acme.organization_id, 'member');
    await server.refused('list_clients', {
      as: member,
      params: { organization_id: acme.organization_id },
    });
    const actor_id = client.record.id;
    const mine = await list({ actor_id, action: 'token.issue' });
    expect(mine.rows).toHaveLength(5);
    const pages = [];
    for (let cursor = ''; ; ) {
      const page = await list({ actor_id, limit: '2', order: 'asc', ...(cursor && { cursor }) });
      pages.push(...page.rows);
      if (page.next_cursor === undefined) break;
      cursor = page.next_cursor;
    }
    expect(pages.map(({ seq }) => seq)).toEqual(mine.rows.map(({ seq }) => seq).reverse());
    const denied = await list({ outcome: 'denied' });
    expect(denied.rows).toMatchObject([{ action: 'access.deny', outcome: 'denied' }]);
    expect((await list({ object: client.record.id })).rows).toMatchObject([
      { action: 'client.create' },
    ]);
    const [first] = mine.rows;
    expect((await list({ from: '2100-01-01T00:00:00Z' })).rows).toEqual([]);
    expect((await list({ actor_id, to: first?.at ?? '' })).rows.length).toBeLessThan(5);
    const params = { organization_id: acme.organization_id };
    const asked = { as: acme.owner, params, query: { from: 'yesterday' } };
    expect(await server.refused('list_audit', asked)).toMatchObject({ error: 'invalid_query' });
  });

  test('a page looks at 10,000 rows at most, and its cursor continues', async () => {
    const large = await addOrganization(server, 'Large');
    const chain = organizationId(large.organization_id);
    const marked = randomUUID();
    await record(chain, [marked]);
    // The head of the chain changes with each row, and PostgreSQL reads all its versions until the commit.
    for (let left = 11; left > 0; left -= 1) await record(chain, Array(1000).fill('x'));
    const first = await list({ object: marked }, large);
    expect(first.rows).toEqual([]);
    const next = await list({ object: marked, cursor: first.next_cursor ?? '' }, large);
    expect(next.rows).toMatchObject([{ object: marked }]);
    expect(next.next_cursor).toBeUndefined();
  });

  test('the status names the end of the chain, and how far it was checked', async () => {
    const { store, clock } = server.convoke.services;
    while (await checkAudit({ store, clock }));
    const params = { organization_id: acme.organization_id };
    const { body } = await server.send('get_audit_status', { as: acme.owner, params });
    const [last] = (await list({ limit: '1' })).rows;
    expect(body).toEqual({
      rows: last?.seq,
      last_seq: last?.seq,
      last_hash: last?.hash,
      verified_to_seq: last?.seq,
      verified_at: expect.stringMatching(/Z$/),
    });
  });

  test('is for owners and admins, and only of their own organization (D-53)', async () => {
    const other = await addOrganization(server, 'Other');
    const operatorRole = await addPerson(server, acme.organization_id, 'operator');
    for (const as of [other.owner, operatorRole]) {
      for (const id of ['list_audit', 'get_audit_status'] as const) {
        const params = { organization_id: acme.organization_id };
        expect(await server.refused(id, { as, params })).toMatchObject({ status: 403 });
      }
    }
    const texts = JSON.stringify(await list({}, other));
    expect(texts).not.toContain('Filtered');
    expect(texts).not.toContain(acme.organization_id);
  });
});
