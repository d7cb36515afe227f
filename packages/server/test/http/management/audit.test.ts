import { randomUUID } from 'node:crypto';
import { type OperationId, operations, organizationId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit, verifyAudit } from '../../../src/app/audit.ts';
import type { AuditRow } from '../../../src/domain/audit.ts';
import { answer, begin, pendingIn } from '../../support/api-steps.ts';
import { anonymous } from '../../support/checked-calls.ts';
import { databaseKinds } from '../../support/databases.ts';
import { addOrganization, addPerson } from '../../support/identities.ts';
import { type TestServer, requestToken, startServer } from '../../support/server.ts';

describe.each(databaseKinds)('the audit of a server on %s (D-69)', (database) => {
  let server: TestServer;
  let home: string;
  beforeAll(async () => {
    server = await startServer({ database });
    home = server.quickstart.organization_id;
  });

  const audit = async (chain = home): Promise<AuditRow[]> => {
    const { store } = server.convoke.services;
    return (
      await listAudit({ store }, { chain: organizationId(chain), limit: 1_000 })
    ).toReversed();
  };
  /** The audit rows that `work` added. */
  const added = async (work: () => Promise<unknown>, chain = home): Promise<AuditRow[]> => {
    const before = (await audit(chain)).length;
    await work();
    return (await audit(chain)).slice(before);
  };
  const key = () => ({ 'idempotency-key': randomUUID() });
  const params = () => ({ organization_id: home });

  test('a change by a person names the person, the request and the address', async () => {
    const headers = { ...key(), 'x-request-id': 'the-request' };
    const body = { name: 'Audited', profile: 'invoke' };
    const rows = await added(() =>
      server.send('create_client', { params: params(), headers, body }),
    );
    const { store } = server.convoke.services;
    const owner = await store.read.organizations.findUserByEmail(server.quickstart.owner_email);
    expect(rows).toMatchObject([
      {
        action: 'client.create',
        by: { kind: 'user', id: owner?.id, requestId: 'the-request', address: '127.0.0.1' },
      },
    ]);
  });

  test('every issued token leaves one row, with the credential that obtained it', async () => {
    const rows = await added(() => requestToken(server.baseUrl, server.quickstart));
    expect(rows).toMatchObject([
      {
        action: 'token.issue',
        by: { kind: 'client', id: expect.stringMatching(/^cli_/), address: '127.0.0.1' },
        object: expect.stringMatching(/^tok_/),
        details: { credential_id: expect.stringMatching(/^cred_/) },
      },
    ]);
    const refused = await added(() =>
      requestToken(server.baseUrl, { ...server.quickstart, client_secret: 'wrong' }).catch(
        () => undefined,
      ),
    );
    expect(refused).toEqual([]);
  });

  test('an answer leaves one row, with digests of the request and the answer', async () => {
    const { run } = await begin(server, 'asker', 'a very private thing');
    const interaction = await pendingIn(server, run.session_id);
    const rows = await added(async () => {
      await answer(server, interaction, { answer: 'a secret colour' });
      await answer(server, interaction, { answer: 'a secret colour' });
    });
    expect(rows).toMatchObject([
      {
        action: 'interaction.answer',
        object: interaction.interaction_key,
        by: { kind: 'client' },
        details: { run_id: run.id, session_id: run.session_id, kind: 'question' },
      },
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/private thing|secret colour/);
  });

  const managed = Object.keys(operations).filter(
    (id): id is OperationId => operations[id as OperationId].caller === 'human',
  );
  test.each(managed)('a denied call by %s is written to the audit', async (id) => {
    const away = await addOrganization(server, `Away ${id}`);
    const member = await addPerson(server, home, 'member');
    const at = {
      organization_id: home,
      client_id: 'cli_x',
      credential_id: 'c',
      budget_id: 'b',
      invitation_id: 'i',
      user_id: 'usr_x',
      tenant_id: 'ten_x',
    };
    const call = (as: object) => server.refused(id, { as: { ...as }, params: at, headers: key() });
    const rows = await added(async () => {
      expect((await call(anonymous)).status).toBe(401);
      for (const as of [server.client, member, away.owner])
        expect((await call(as)).status).toBe(403);
    });
    expect(
      rows.map(({ action, object, outcome, by }) => [action, object, outcome, by.kind]),
    ).toEqual(
      ['anonymous', 'client', 'user', 'user'].map((kind) => ['access.deny', id, 'denied', kind]),
    );
    expect(rows[0]?.details).toEqual({ code: 'unauthorized' });
    expect(rows[1]?.by.id).toMatch(/^cli_/);
    const elsewhere = await audit(away.organization_id);
    expect(elsewhere.map(({ action }) => action)).toEqual(['organization.create']);
  });

  test('parallel changes and tokens keep every chain intact', async () => {
    const { organization_id: away, owner } = await addOrganization(server, 'Busy');
    const body = { name: 'Parallel', profile: 'invoke' };
    await Promise.all([
      ...Array.from({ length: 12 }, () => requestToken(server.baseUrl, server.quickstart)),
      ...Array.from({ length: 12 }, () =>
        server.send('create_client', {
          as: owner,
          params: { organization_id: away },
          headers: key(),
          body,
        }),
      ),
    ]);
    expect(await audit(away)).toHaveLength(13);
    const { store } = server.convoke.services;
    for await (const { problem } of verifyAudit({ store })) expect(problem).toBeUndefined();
  });
});
