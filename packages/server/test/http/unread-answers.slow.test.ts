import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { limits, operations } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { at, begin, openSession, startRun } from '../support/api-steps.ts';
import { type Identity, pathOf } from '../support/checked-calls.ts';
import { MovingClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { addBystander, addClient } from '../support/identities.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { openSocket, readAnswer } from '../support/raw-requests.ts';
import type { TestServer } from '../support/server.ts';

const mebibyte = 1024 * 1024;

describe('a client that does not read its answers', () => {
  const clock = new MovingClock();
  let server: TestServer;
  let bystander: Identity;
  let params: { readonly session_id: string };
  beforeAll(async () => {
    // A page of 8 MiB fits once into the share of a client, and twice into that of its organization.
    const answerCaps = {
      inAll: 100 * mebibyte,
      perOrganization: 20 * mebibyte,
      perClient: 12 * mebibyte,
    };
    ({ server } = await startPuppetServer({ clock, answerCaps, clientTokenSeconds: 36_000 }));
    bystander = await addBystander(server);
    const session = await openSession(server, 'puppet');
    params = { session_id: session.id };
    for (let count = 0; count < 9; count += 1) {
      await startRun(server, session, 'x'.repeat(900 * 1024));
    }
  });

  /** Asks for a large answer and reads only the beginning of it. */
  async function ask(path: string, as = server.client) {
    const socket = await openSocket(server);
    const arrived = once(server.convoke.app.server, 'request');
    const { host, port } = server.config;
    const headers = { host: `${host}:${port}`, connection: 'close', ...as };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    const [request] = (await arrived) as [IncomingMessage];
    await once(socket, 'readable');
    return { mine: socket, theirs: request.socket };
  }

  const another = async () => (await addClient(server)).in(server.quickstart.tenant_id);
  const refusedTo = async (as: Identity) => {
    const refused = await server.refused('list_runs', { as, params });
    expect(refused).toMatchObject({ status: 429, error: 'rate_limited' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  };

  test('is refused more of them, and other callers are answered', async () => {
    const path = pathOf('list_runs', { params });
    const [second, third] = [await another(), await another()];
    const asked = [await ask(path), await ask(path, second)];
    await refusedTo(server.client);
    // The share of the organization is used up, too.
    await refusedTo(third);
    expect((await server.send('list_sessions', { as: bystander })).status).toBe(200);
    // Changes are not refused, nor are small answers of a client without unread ones.
    const { run } = await begin(server, 'echo');
    const small = await server.send('get_run', { as: third, params: at(run) });
    expect(small.status).toBe(200);

    for (const { mine } of asked) {
      const answer = await readAnswer(mine);
      const page = operations.list_runs.responses[200].schema.parse(JSON.parse(answer.text));
      expect([answer.status, page.runs.length]).toEqual([200, 9]);
    }
    await eventually(async () => (await server.send('list_runs', { params })).status === 200);
  });

  test('is disconnected after half a minute', async () => {
    const { mine, theirs } = await ask(pathOf('list_runs', { params }));
    await refusedTo(server.client);
    await eventually(() => {
      clock.advance(limits.streamStallMs);
      return theirs.destroyed;
    });
    mine.destroy();
    expect((await server.send('list_runs', { params })).status).toBe(200);
  });
});
