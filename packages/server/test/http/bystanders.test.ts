import { limits } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Identity } from '../support/checked-calls.ts';
import { addBystander } from '../support/identities.ts';
import { leastOf, medianWork } from '../support/processor-work.ts';
import { type TestServer, startServer } from '../support/server.ts';

describe('a query', () => {
  let server: TestServer;
  let bystander: Identity;
  beforeAll(async () => {
    server = await startServer();
    bystander = await addBystander(server);
  });
  const repeated = (times: number) => Array.from({ length: times }, () => 'label=a:b').join('&');

  test('of more than 100 parameters is refused, and other callers are answered', async () => {
    // As many as fit into the head of a request.
    const attacks = Array.from({ length: 20 }, () =>
      server.refused('list_tenant_runs', { query: repeated(1500) }),
    );
    const { status } = await server.send('list_sessions', { as: bystander });
    expect(status).toBe(200);
    for (const refused of await Promise.all(attacks)) {
      expect(refused).toMatchObject({
        status: 400,
        error: 'invalid_query',
        message: `The query has more than ${limits.queryMaxParameters} parameters.`,
      });
    }
  });

  test('of far too many parameters has others wait no longer than for a few calls', async () => {
    const look = () => server.send('list_sessions', { as: bystander });
    const path = `/v1/runs?${Array.from({ length: 1800 }, () => 'label').join('&')}`;
    const lookUnderAttack = async () => {
      const attacks = Array.from({ length: 4 }, () => server.call('GET', path));
      await look();
      return attacks;
    };
    await medianWork(20, look);
    const quiet = await medianWork(21, look);
    const underAttack = async () => {
      const attacks: Awaited<ReturnType<typeof lookUnderAttack>>[] = [];
      const work = await medianWork(5, async () => attacks.push(await lookUnderAttack()));
      for (const { status } of await Promise.all(attacks.flat())) expect(status).toBe(400);
      return work;
    };
    // Four requests before one's own are a few times its work; read by a quadratic loop, they are hundreds of times.
    const below = 60 * quiet;
    expect(await leastOf(underAttack, { below })).toBeLessThan(below);
  });

  test('of 100 parameters is read, each value of a repeated one in its place', async () => {
    const refused = await server.refused('list_tenant_runs', { query: repeated(100) });
    expect(refused.message).toContain('label');
    const labels = ['first:1', 'second:2', 'third:no-colon'].map((label) => `label=${label}`);
    const { status } = await server.send('list_tenant_runs', { query: labels.join('&') });
    expect(status).toBe(200);
  });
});
