import { type OperationId, operationList, operations } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { type OperationCall, pathOf } from '../support/checked-calls.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type TestServer, startServer } from '../support/server.ts';
import {
  type TenantData,
  fillFirstOrganization,
  tenantDataAgents,
} from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

let server: TestServer;
let world: TenantData;
beforeAll(async () => {
  server = await startServer({ agents: tenantDataAgents });
  world = await fillFirstOrganization(server, 'head');
});

const reads = operationList.filter(({ method }) => method === 'GET').map(({ id }) => id);
const isStream = (id: string) =>
  Object.values(operations[id as OperationId].responses).some((response) => 'stream' in response);

/** What differs between two answers to the same request, and the length of nothing, which a redirect may leave out. */
const isOwn = ([name, value]: [string, string]) =>
  name === 'date' || name === 'x-request-id' || (name === 'content-length' && value === '0');

async function ask(method: 'GET' | 'HEAD', path: string, call: OperationCall = {}) {
  const headers = Object.entries({ ...call.as, ...call.headers });
  const answer = await sendRaw(server, { method, path, headers });
  const shared = Array.from(answer.headers).filter((header) => !isOwn(header));
  return { ...answer, headers: Object.fromEntries(shared) };
}

async function expectSameHead(path: string, call: OperationCall = {}): Promise<number> {
  const get = await ask('GET', path, call);
  const head = await ask('HEAD', path, call);
  expect([head.status, head.text]).toEqual([get.status, '']);
  expect(head.headers).toEqual(get.headers);
  return get.status;
}

describe('HEAD is answered as GET is, without the body (RFC 9110 section 9.3.2)', () => {
  test.each(reads.filter((id) => !isStream(id)))('%s', async (name) => {
    const id = name as OperationId;
    const call = await validCalls[id](server, world);
    expect(await expectSameHead(pathOf(id, call), call)).toBe(200);
  });

  test.each([
    '/',
    '/console',
    '/console/',
    '/docs/',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-client',
  ])('the page %s', async (path) => {
    const status = await expectSameHead(path, { headers: { accept: 'text/html' } });
    expect([200, 302, 308, 503]).toContain(status);
  });

  test('the metrics, whose text is another each time', async () => {
    expect(await ask('HEAD', '/metrics')).toMatchObject({ status: 200, text: '' });
    expect(await expectSameHead('/metrics', { headers: { via: '1.1 proxy' } })).toBe(404);
  });

  test('a refusal', async () => {
    expect(await expectSameHead('/v1/whoami')).toBe(401);
    const call = { as: world.as };
    expect(await expectSameHead('/v1/sessions/sess_never', call)).toBe(404);
    expect(await expectSameHead('/v1/sessions?status=asleep', call)).toBe(400);
    expect(await expectSameHead('/nothing')).toBe(404);
  });
});

test.each(reads.filter(isStream))('%s, which streams, has no HEAD', async (name) => {
  const id = name as OperationId;
  const call = await validCalls[id](server, world);
  const answer = await ask('HEAD', pathOf(id, call), call);
  const others = operationList.filter(({ path }) => path === operations[id].path);
  const allowed = ['GET', 'POST'].filter((one) => others.some(({ method }) => method === one));
  expect([answer.status, answer.headers['allow']]).toEqual([405, allowed.join(', ')]);
});
