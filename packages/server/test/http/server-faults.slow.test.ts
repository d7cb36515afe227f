import { type Operation, type OperationId, operations } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { type OperationCall } from '../support/checked-calls.ts';
import { MovingClock } from '../support/clocks.ts';
import { FailingStore } from '../support/failing-store.ts';
import { type TestServer, startServer } from '../support/server.ts';
import {
  type TenantData,
  fillFirstOrganization,
  tenantDataAgents,
} from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

const failing = new FailingStore();
const clock = new MovingClock();
const calls = new Map<OperationId, OperationCall>();
let server: TestServer;
let world: TenantData;
beforeAll(async () => {
  server = await startServer({
    agents: tenantDataAgents,
    clock,
    wrapStore: failing.wrap,
    expectsFaults: true,
  });
  world = await fillFirstOrganization(server, 'faults');
  for (const id of ids) calls.set(id, await validCalls[id](server, world));
});

const ids = Object.keys(operations) as OperationId[];
const callOf = (id: OperationId) => calls.get(id) ?? {};
const where = (choose: (operation: Operation) => boolean) =>
  ids.filter((id) => choose(operations[id]));

describe('faults of the server (D-70)', () => {
  const free = [
    'get_metadata',
    'get_resource_metadata',
    'get_health',
    'get_readiness',
    'get_openapi',
    'get_docs',
    'get_guide',
    'get_reference_page',
    'get_search_index',
    'get_agent_card',
  ];
  const touching = ids.filter((id) => !free.includes(id));
  // Keys that were read once still verify, and are published, while the database is unavailable.
  const stored = touching.filter((id) => id !== 'get_jwks');

  test.each(stored)(
    '%s: unavailable storage is 503 with Retry-After, until it is back',
    async (id) => {
      failing.fault = new StorageUnavailable('away');
      const refused = await server.refused(id, callOf(id)).finally(() => {
        failing.fault = undefined;
      });
      expect(refused).toMatchObject({ status: 503, error: 'storage_unavailable' });
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    },
  );

  test.each(touching)(
    '%s: a fault is 500 internal, with a request id and no details',
    async (id) => {
      failing.fault = new Error('the secret reason');
      // Published keys are read again once a minute.
      if (id === 'get_jwks') clock.advance(60_000);
      const refused = await server.refused(id, callOf(id)).finally(() => {
        failing.fault = undefined;
      });
      expect(refused).toMatchObject({ status: 500, error: 'internal' });
      expect(refused.text).not.toContain('secret');
    },
  );

  describe("the issuer of people's tokens is unreachable", () => {
    const issuer = 'http://127.0.0.1:1';
    let apart: TestServer;
    beforeAll(async () => {
      const env = { CONVOKE_OIDC_ISSUER: issuer, CONVOKE_OIDC_AUDIENCE: 'convoke' };
      apart = await startServer({ env, expectsFaults: true });
    });

    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const foreign = `${part({ alg: 'EdDSA', kid: 'theirs' })}.${part({ iss: issuer })}.AAAA`;

    test.each(where(({ caller }) => caller !== 'anonymous'))(
      '%s: a caller with its token gets 503 with Retry-After',
      async (id) => {
        const as = { ...world.as, authorization: `Bearer ${foreign}` };
        const refused = await apart.refused(id, { ...callOf(id), as });
        expect(refused).toMatchObject({ status: 503, error: 'identity_unavailable' });
        expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      },
    );
  });

  test('known keys are published while storage is unavailable', async () => {
    clock.advance(60_000);
    failing.fault = new StorageUnavailable('away');
    const { status } = await server.send('get_jwks').finally(() => {
      failing.fault = undefined;
    });
    expect(status).toBe(200);
  });
});
