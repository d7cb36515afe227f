import type { OrganizationId } from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getAuditStatus } from '../../src/app/audit-checks.ts';
import { recordAudit } from '../../src/app/audit.ts';
import { sql } from '../../src/store/sql.ts';
import { checkAudit } from '../../src/workers/check-audit.ts';
import { databaseKinds } from '../support/databases.ts';
import { type IdentityFixture, by, createIdentityFixture } from '../support/identity-fixture.ts';

const hourMs = 3_600_000;

describe.each(databaseKinds)('the pass that checks the audit, on %s', (kind) => {
  let world: IdentityFixture;
  let home: OrganizationId;
  beforeAll(async () => {
    world = await createIdentityFixture(kind);
    const trigger = 'drop trigger if exists audit_rows_stay';
    await world.database.transaction((tx) =>
      tx.script(kind === 'sqlite' ? trigger : `${trigger} on audit_rows`),
    );
  });
  beforeEach(async () => {
    home = await world.seed.organization();
  });

  const add = (count: number) =>
    world.store.transaction(async (tx) => {
      for (let index = 0; index < count; index += 1) {
        const entry = { chain: home, at: world.clock.now(), by, object: `row ${index}` };
        await recordAudit(tx, { ...entry, action: 'keys.rotate' });
      }
    });
  const status = async () => {
    const { check } = await getAuditStatus(world, home);
    return { verified: check?.verifiedToSeq, problem: check?.problem ?? undefined };
  };
  /** As the driver does: again while there may be more. */
  const passes = async () => {
    let count = 1;
    while (await checkAudit(world)) count += 1;
    return count;
  };
  const tamper = (object: string) =>
    world.database.transaction((tx) =>
      tx.run(
        sql`update audit_rows set object = ${object} where organization_id = ${home} and seq = 3`,
      ),
    );

  test('checks 500 rows at a time, and new rows by continuing', async () => {
    await add(1_100);
    expect(await checkAudit(world)).toBe(true);
    expect(await status()).toEqual({ verified: 500, problem: undefined });
    await passes();
    expect(await status()).toEqual({ verified: 1_100, problem: undefined });
    await add(1);
    expect(await checkAudit(world)).toBe(false);
    expect(await status()).toEqual({ verified: 1_101, problem: undefined });
  });

  test('finds a row that was changed after it was checked within a day, and says which', async () => {
    await add(5);
    await passes();
    await tamper('forged');
    await add(1);
    await passes();
    expect(await status()).toEqual({ verified: 6, problem: undefined });
    world.clock.advance(24 * hourMs);
    await passes();
    const problem = { seq: 3, problem: 'changed after it was written' };
    expect(await status()).toEqual({ verified: 2, problem });
    await tamper('row 2');
    await passes();
    expect((await status()).problem).toEqual(problem);
    world.clock.advance(hourMs);
    await passes();
    expect(await status()).toEqual({ verified: 6, problem: undefined });
  });

  test('two servers that check at the same time store one result', async () => {
    await add(20);
    await Promise.all(Array.from({ length: 4 }, () => checkAudit(world)));
    await passes();
    expect(await status()).toEqual({ verified: 20, problem: undefined });
  });
});
