import { operations, organizationId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/app/audit.ts';
import { Refusal } from '../../../src/app/refusal.ts';
import { type Denials, createDenials } from '../../../src/http/denials.ts';
import { StorageUnavailable } from '../../../src/ports/errors.ts';
import { type IdentityFixture, createIdentityFixture } from '../../support/identity-fixture.ts';

describe('denials of management calls (D-69)', () => {
  let world: IdentityFixture;
  let denials: Denials;
  const logged: string[] = [];
  const log = { info() {}, warn() {}, error: (message: string) => void logged.push(message) };
  beforeAll(async () => {
    world = await createIdentityFixture('sqlite');
    denials = createDenials({ ...world, log });
  });

  const denied = (organization: string, token?: string, address = '192.0.2.1') => ({
    operation: operations.list_clients,
    organization: organizationId(organization),
    facts: {
      id: 'req-1',
      address,
      raw: {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        rawHeaders: [],
      },
    },
  });
  const record = (...at: Parameters<typeof denied>) =>
    denials.record(new Refusal('forbidden'), denied(...at));
  const rowsOf = async (organization: string) =>
    listAudit(world, { chain: organizationId(organization), limit: 1_000 });

  test('one caller gets at most sixty rows a minute, independent of others', async () => {
    const home = await world.seed.organization();
    const person = await world.seed.person(home, 'member');
    const { token } = await world.tokens.issueForPerson(person);
    for (let count = 0; count < 100; count += 1) await record(home);
    expect(await rowsOf(home)).toHaveLength(60);
    await record(home, token);
    const [newest] = await rowsOf(home);
    expect(newest?.by).toMatchObject({ kind: 'user', id: person });
    world.clock.advance(1_000);
    await record(home);
    await record(home);
    expect(await rowsOf(home)).toHaveLength(62);
  });

  test('all callers together get six hundred rows a minute in one organization', async () => {
    const home = await world.seed.organization();
    for (let count = 0; count < 700; count += 1) await record(home, undefined, `a${count}`);
    expect(await rowsOf(home)).toHaveLength(600);
  });

  test('an unknown organization gets no row', async () => {
    for (const id of ['org_unknown', '', '../x', 'a\u0000b']) {
      await record(id);
      expect(await rowsOf('org_unknown')).toEqual([]);
    }
  });

  test('a caller is denied even if the store accepts no writes', async () => {
    const store = {
      ...world.store,
      transaction: () => Promise.reject(new StorageUnavailable('disk full')),
    };
    const home = await world.seed.organization();
    const full = createDenials({ ...world, store, log });
    await full.record(new Refusal('unauthorized'), denied(home));
    expect(logged).toEqual(['denial not written to the audit']);
  });

  test('other refusals leave no row', async () => {
    const home = await world.seed.organization();
    await denials.record(new StorageUnavailable('away'), denied(home));
    await denials.record(new Refusal('rate_limited'), denied(home));
    expect(await rowsOf(home)).toEqual([]);
  });
});
