import { type OrganizationId, type TenantId, scopesOf } from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listAudit, recordAudit, sealAudit, verifyAudit } from '../../src/app/audit.ts';
import { createClient, deleteClient, updateClient } from '../../src/app/clients.ts';
import { addCredential, revokeCredential } from '../../src/app/credentials.ts';
import { createTenant, offboardTenant, retryTenant } from '../../src/app/tenants.ts';
import { createHeadSeal } from '../../src/auth/head-seal.ts';
import { type AuditRow, deploymentChain } from '../../src/domain/audit.ts';
import { sql } from '../../src/store/sql.ts';
import { createStore } from '../../src/store/store.ts';
import { databaseKinds } from '../support/databases.ts';
import { type IdentityFixture, by, createIdentityFixture } from '../support/identity-fixture.ts';
import { settings } from '../support/settings.ts';

describe.each(databaseKinds)('the audit on %s (D-69)', (kind) => {
  let world: IdentityFixture;
  let home: OrganizationId;
  beforeAll(async () => {
    world = await createIdentityFixture(kind);
  });
  beforeEach(async () => {
    home = await world.seed.organization();
  });

  const rowsOf = async (chain = home): Promise<AuditRow[]> =>
    (await listAudit(world, { chain, limit: 1_000 })).toReversed();
  const actionsOf = async () => (await rowsOf()).map(({ action }) => action);
  const problemsOf = async (chain = home) => {
    const problems: (string | undefined)[] = [];
    for await (const { head, problem } of verifyAudit(world)) {
      if (head.chain === chain) problems.push(problem && `${problem.seq} ${problem.problem}`);
    }
    return problems;
  };
  const add = (object: string, chain: AuditRow['chain'] = home) =>
    world.store.transaction((tx) =>
      recordAudit(tx, { chain, at: world.clock.now(), by, action: 'keys.rotate', object }),
    );
  let keys = 0;
  const create = (idempotencyKey = `audit-key-${(keys += 1)}`) =>
    createClient(world, home, {
      name: 'Backend',
      description: 'not for the audit',
      permissions: { profile: 'invoke' },
      lifetimeDays: 1,
      idempotencyKey,
      by,
      chargeRate: () => {},
    });

  test('a client, its changes and its end leave one row each, naming who and what', async () => {
    const { client, credential, secret } = await create();
    const change = (changed: object, version: number) =>
      updateClient(world, home, { id: client.id, change: { version, ...changed }, by });
    await change({ name: 'New' }, 1);
    await change({ permissions: { profile: 'observe' } }, 2);
    await change({ status: 'disabled' }, 3);
    await change({ status: 'active' }, 4);
    const added = await addCredential(world, home, {
      clientId: client.id,
      label: 'next',
      lifetimeDays: 1,
      idempotencyKey: 'audit-credential',
      by,
      chargeRate: () => {},
    });
    const at = { clientId: client.id, credentialId: credential.id, by };
    await revokeCredential(world, home, at);
    await deleteClient(world, home, { id: client.id, by });
    const rows = await rowsOf();
    expect(rows.map(({ seq, action, object }) => [seq, action, object])).toEqual([
      [1, 'client.create', client.id],
      [2, 'client.update', client.id],
      [3, 'client.update', client.id],
      [4, 'client.disable', client.id],
      [5, 'client.enable', client.id],
      [6, 'credential.add', client.id],
      [7, 'credential.revoke', client.id],
      [8, 'client.delete', client.id],
    ]);
    expect(rows[0]).toMatchObject({
      at: world.clock.now(),
      by,
      outcome: 'done',
      details: { client_id: client.oauthClientId, name: 'Backend', credential_id: credential.id },
    });
    expect(rows[2]?.details).toMatchObject({ version: 3, scopes: scopesOf('observe') });
    expect(await problemsOf()).toEqual([undefined]);
    const text = JSON.stringify(rows);
    for (const hidden of [secret, added.secret, credential.secretHmac, 'not for the audit']) {
      expect(text).not.toContain(hidden);
    }
  });

  test('what changes nothing leaves no row: a repetition, a refusal, a second revocation', async () => {
    const { client, credential } = await create('audit-repeated');
    await expect(create('audit-repeated')).rejects.toThrow('already issued');
    const stale = { id: client.id, change: { version: 9, name: 'x' }, by };
    await expect(updateClient(world, home, stale)).rejects.toThrow('has changed');
    const at = { clientId: client.id, credentialId: credential.id, by };
    await revokeCredential(world, home, at);
    await revokeCredential(world, home, at);
    expect(await actionsOf()).toEqual(['client.create', 'credential.revoke']);
  });

  test('a tenant leaves a row when it is created, retried and offboarded', async () => {
    const parts = { ...world, settings };
    const request = { displayName: 'A', mode: 'saas', by, chargeRate: () => {} };
    const made = await createTenant(parts, home, { ...request, idempotencyKey: 'audit-tenant' });
    await createTenant(parts, home, { ...request, idempotencyKey: 'audit-tenant' });
    const tenant = made.resource;
    await world.store.transaction((tx) => tx.tenants.save({ ...tenant, status: 'failed' }, tenant));
    const { id }: { id: TenantId } = tenant;
    await retryTenant(world, home, { id, by });
    await offboardTenant(world, home, { id, confirm: id, by });
    await offboardTenant(world, home, { id, confirm: id, by });
    expect(await actionsOf()).toEqual(['tenant.create', 'tenant.retry', 'tenant.offboard']);
  });

  test('a row is committed exactly when the action it describes is', async () => {
    const failing = world.store.transaction(async (tx) => {
      await recordAudit(tx, { chain: home, at: 1, by, action: 'keys.rotate', object: 'x' });
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await rowsOf()).toEqual([]);
    await add('kept');
    expect((await rowsOf()).map(({ seq, object }) => [seq, object])).toEqual([[1, 'kept']]);
  });

  test('parallel writers make one chain without a fork or a hole', async () => {
    const away = await world.seed.organization();
    await add('first');
    await add('first', away);
    const writes = Array.from({ length: 60 }, (_, index) =>
      add(`row ${index}`, index % 3 === 0 ? away : index % 3 === 1 ? home : deploymentChain),
    );
    const verifications = [problemsOf(), problemsOf(away)];
    await Promise.all(writes);
    for (const problems of await Promise.all(verifications)) {
      expect(problems.every((problem) => problem === undefined)).toBe(true);
    }
    expect((await rowsOf()).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 21 }, (_, index) => index + 1),
    );
    expect(await problemsOf()).toEqual([undefined]);
  });

  test('the database itself refuses to change or remove a row', async () => {
    await add('kept');
    for (const statement of [
      sql`update audit_rows set object = 'x' where organization_id = ${home}`,
      sql`delete from audit_rows where organization_id = ${home}`,
    ]) {
      await expect(world.database.transaction((tx) => tx.run(statement))).rejects.toThrow(/never/);
    }
    expect(await problemsOf()).toEqual([undefined]);
  });

  describe('an attacker with write access to the tables', () => {
    beforeEach(async () => {
      await world.database.transaction((tx) =>
        tx.script(
          kind === 'sqlite'
            ? 'drop trigger if exists audit_rows_stay; drop trigger if exists audit_rows_remain'
            : 'drop trigger if exists audit_rows_stay on audit_rows',
        ),
      );
      for (let index = 1; index <= 5; index += 1) await add(`row ${index}`);
    });
    const tamper = (...statements: ReturnType<typeof sql>[]) =>
      world.database.transaction(async (tx) => {
        for (const statement of statements) await tx.run(statement);
      });

    const fields: Record<string, () => ReturnType<typeof sql>> = {
      actor: () => sql`update audit_rows set actor_id = 'usr_2' where ${third()}`,
      kind: () => sql`update audit_rows set actor_kind = 'operator' where ${third()}`,
      time: () => sql`update audit_rows set at = at + 1 where ${third()}`,
      action: () => sql`update audit_rows set action = 'client.create' where ${third()}`,
      object: () => sql`update audit_rows set object = 'x' where ${third()}`,
      outcome: () => sql`update audit_rows set outcome = 'denied' where ${third()}`,
      details: () => sql`update audit_rows set details = '{"a":1}' where ${third()}`,
      garbage: () => sql`update audit_rows set details = 'no json' where ${third()}`,
      address: () => sql`update audit_rows set address = null where ${third()}`,
      request: () => sql`update audit_rows set request_id = 'x' where ${third()}`,
    };
    const third = () => sql`organization_id = ${home} and seq = 3`;

    test.each(Object.keys(fields))('cannot change the %s of a row unseen', async (name) => {
      const statement = fields[name]?.();
      if (statement !== undefined) await tamper(statement);
      expect(await problemsOf()).toEqual(['3 changed after it was written']);
    });

    test('cannot remove a row unseen, wherever it stood', async () => {
      await tamper(sql`delete from audit_rows where organization_id = ${home} and seq = 5`);
      expect(await problemsOf()).toEqual(['5 missing: the chain ends at row 5']);
      await tamper(sql`delete from audit_rows where organization_id = ${home} and seq = 2`);
      expect(await problemsOf()).toEqual(['2 missing: row 3 comes next']);
      await tamper(sql`delete from audit_rows where organization_id = ${home} and seq = 1`);
      expect(await problemsOf()).toEqual(['1 missing: row 3 comes next']);
      await tamper(sql`delete from audit_rows where organization_id = ${home}`);
      expect(await problemsOf()).toEqual(['1 missing: the chain ends at row 5']);
    });

    test('cannot exchange two rows, nor put one behind the end, unseen', async () => {
      const of = sql`organization_id = ${home}`;
      await tamper(
        sql`update audit_rows set seq = 99 where ${of} and seq = 2`,
        sql`update audit_rows set seq = 2 where ${of} and seq = 3`,
        sql`update audit_rows set seq = 3 where ${of} and seq = 99`,
      );
      expect(await problemsOf()).toEqual(['2 changed after it was written']);
      await tamper(
        sql`update audit_rows set seq = 99 where ${of} and seq = 2`,
        sql`update audit_rows set seq = 2 where ${of} and seq = 3`,
        sql`update audit_rows set seq = 3 where ${of} and seq = 99`,
      );
      expect(await problemsOf()).toEqual([undefined]);
      const copy = sql`insert into audit_rows select organization_id, 6, at, actor_kind, actor_id,
        request_id, address, action, object, outcome, details, previous_hash, hash
        from audit_rows where ${of} and seq = 5`;
      await tamper(copy);
      expect(await problemsOf()).toEqual(['6 was added after the end']);
    });

    test('cannot hide by removing the head', async () => {
      await tamper(sql`delete from audit_heads where organization_id = ${home}`);
      expect(await problemsOf()).toEqual(['5 was added after the end']);
    });

    const cutAfter = (seq: number) =>
      tamper(
        sql`delete from audit_rows where organization_id = ${home} and seq > ${seq}`,
        sql`update audit_heads set seq = ${seq}, hash = (
            select hash from audit_rows where organization_id = ${home} and seq = ${seq}
          ) where organization_id = ${home}`,
      );

    test('cannot cut the end off and move the head back, and the next row does not hide it', async () => {
      await cutAfter(3);
      expect(await problemsOf()).toEqual(['3 has a seal that does not fit: the end was changed']);
      await add('after the cut');
      expect(await problemsOf()).toEqual([
        expect.stringContaining('4 ends a chain without a seal'),
      ]);
      await tamper(sql`update audit_heads set seal = 'forged' where organization_id = ${home}`);
      expect(await problemsOf()).toEqual(['4 has a seal that does not fit: the end was changed']);
    });

    test('cannot remove a whole chain unseen, nor have the next row begin another', async () => {
      await tamper(
        sql`delete from audit_rows where organization_id = ${home}`,
        sql`delete from audit_heads where organization_id = ${home}`,
      );
      expect(await problemsOf()).toEqual(['1 missing: the chain has no rows']);
      await add('the first row now');
      expect(await problemsOf()).toEqual([
        expect.stringContaining('1 ends a chain without a seal'),
      ]);
    });

    test('is still seen after an operator sealed the chain: the sealing is a row', async () => {
      await cutAfter(3);
      const sealed = await sealAudit(world, by);
      expect(sealed.map(({ chain, seq }) => [chain, seq])).toContainEqual([home, 3]);
      expect(await problemsOf()).toEqual([undefined]);
      expect((await rowsOf()).at(-1)).toMatchObject({
        action: 'audit.seal',
        details: { seal: 'broken', seq: 3 },
      });
      expect(await sealAudit(world, by)).toEqual([]);
    });
  });

  test('a server with another master key takes no seal for valid', async () => {
    await add('sealed');
    const other = createStore(world.database, createHeadSeal(Buffer.alloc(32, 8)));
    const head = await other.read.audit.head(home);
    expect(head).toMatchObject({ seq: 1, seal: 'broken' });
  });

  test('the newest rows come first, of one chain or of all', async () => {
    await add('a');
    world.clock.advance(1);
    await add('b');
    world.clock.advance(1);
    await add('c', deploymentChain);
    const of = async (chain?: AuditRow['chain']) =>
      (await listAudit(world, { chain, limit: 2 })).map(({ object }) => object);
    expect(await of(home)).toEqual(['b', 'a']);
    expect(await of()).toEqual(['c', 'b']);
  });
});
