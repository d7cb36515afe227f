import type { RunRecord, SessionRecord } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { ended, logOf, openSession } from '../support/api-steps.ts';
import { type Identity, pathOf } from '../support/checked-calls.ts';
import { addClient, addTenant } from '../support/identities.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { openSocket } from '../support/raw-requests.ts';
import { type TestServer, deployments } from '../support/server.ts';
import { quietWebhook } from '../support/tenant-data.ts';

const parallel = 50;
const rounds = 4;

describe.each(deployments)('the same key on %s (D-57)', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    ({ server, puppet } = await startPuppetServer({ database }));
  });

  const many = <Result>(call: (index: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: parallel }, (_, index) => call(index)));
  const counted = (statuses: readonly number[]) => {
    const counts: Record<number, number> = {};
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  const sessionsOf = async (agent_name: string, as = server.client) =>
    (await server.send('list_sessions', { as, query: { agent_name, limit: '100' } })).body.sessions;

  test(`${parallel} creates at once make one session, and all get it`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const before = (await sessionsOf('asker')).length;
      const body = { agent_name: 'asker', idempotency_key: `create ${round}` };
      const results = await many(() => server.send('create_session', { body }));
      expect(counted(results.map(({ status }) => status))).toEqual({ 201: 1, 200: parallel - 1 });
      expect(new Set(results.map(({ body }) => body.id)).size).toBe(1);
      for (const { status, headers } of results) {
        expect(headers.get('idempotency-replayed')).toBe(status === 200 ? 'true' : null);
      }
      expect(await sessionsOf('asker')).toHaveLength(before + 1);
    }
  });

  test(`${parallel} starts at once make one run, which executes once`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const session = await openSession(server, 'puppet');
      const call = {
        params: { session_id: session.id },
        body: { input: { prompt: `round ${round}` }, idempotency_key: 'start' },
      };
      const results = await many(() => server.send('start_run', call));
      expect(counted(results.map(({ status }) => status))).toEqual({ 201: 1, 200: parallel - 1 });
      const [first] = results;
      if (first === undefined) throw new Error('nothing was started');
      expect(new Set(results.map(({ body }) => body.id)).size).toBe(1);
      const { body } = await server.send('list_runs', { params: call.params });
      expect(body.runs).toHaveLength(1);
      const leg = await puppet.leg();
      expect(leg.context.prompt).toBe(`round ${round}`);
      leg.end();
      const log = await logOf(server, first.body);
      expect(log.map(({ type }) => type)).toEqual(['run_started', 'run_completed']);
    }
  });

  test(`${parallel} invocations at once make one session with one run, and all stream it`, async () => {
    const before = (await sessionsOf('failing')).length;
    const readers = await many(() =>
      server.stream('/v1/agents/failing/runs', {
        method: 'POST',
        body: { input: { prompt: 'x' }, idempotency_key: 'invoke' },
      }),
    );
    const texts = await Promise.all(
      readers.map(async (reader) => (await reader.all()).map(({ text }) => text).join('\n')),
    );
    expect(new Set(texts).size).toBe(1);
    expect(new Set(readers.map(({ headers }) => headers.get('x-run-id'))).size).toBe(1);
    const replayed = readers.filter(({ headers }) => headers.has('idempotency-replayed'));
    expect(replayed).toHaveLength(parallel - 1);
    expect(await sessionsOf('failing')).toHaveLength(before + 1);
  });

  test('of two parallel bodies one wins, and the other is a conflict that changes nothing', async () => {
    const session = await openSession(server, 'sleeper');
    const path = pathOf('start_run', { params: { session_id: session.id } });
    const results = await many(async (index) => {
      const prompt = index % 2 === 0 ? 'even' : 'odd';
      const answer = await server.call('POST', path, {
        body: { input: { prompt }, idempotency_key: 'two bodies' },
      });
      return { prompt, status: answer.status };
    });
    const winners = new Set(
      results.filter(({ status }) => status < 400).map(({ prompt }) => prompt),
    );
    expect(winners.size).toBe(1);
    expect(counted(results.map(({ status }) => status))).toEqual({
      200: parallel / 2 - 1,
      201: 1,
      409: parallel / 2,
    });
    const { body } = await server.send('list_runs', { params: { session_id: session.id } });
    expect(body.runs.map(({ input }) => input['prompt'])).toEqual([...winners]);
    await server.send('stop_session', { params: { session_id: session.id } });
  });

  test('a caller that disconnects after its last byte finds what it created', async () => {
    const before = (await sessionsOf('busy')).length;
    const tries = 20;
    for (let index = 0; index < tries; index += 1) {
      const body = JSON.stringify({ agent_name: 'busy', idempotency_key: `left ${index}` });
      const socket = await openSocket(server);
      const headers = Object.entries({
        ...server.client,
        host: 'x',
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }).map(([name, value]) => `${name}: ${value}\r\n`);
      await new Promise<void>((resolve) => {
        socket.write(`POST /v1/sessions HTTP/1.1\r\n${headers.join('')}\r\n${body}`, () =>
          resolve(),
        );
      });
      socket.destroy();
      const again = await server.send('create_session', { body: JSON.parse(body) });
      expect([200, 201]).toContain(again.status);
    }
    expect(await sessionsOf('busy')).toHaveLength(before + tries);
  });

  describe('is the same request', () => {
    const replays = async (first: string, second: string, as?: Identity) => {
      const session = await openSession(server, 'echo');
      const params = { session_id: session.id };
      const headers = { 'content-type': 'application/json' };
      const made = await server.send('start_run', { params, headers, body: first });
      const { status } = await server.call('POST', pathOf('start_run', { params }), {
        headers,
        body: second,
        ...(as === undefined ? {} : { as }),
      });
      await ended(server, made.body);
      return status;
    };

    test('in any order of members and with any spaces', async () => {
      const first = '{"input":{"prompt":"x","files":[]},"idempotency_key":"k"}';
      expect(
        await replays(
          first,
          '{ "idempotency_key" : "k", "input": {"files":[], "prompt":"\\u0078"} }',
        ),
      ).toBe(200);
      expect(await replays(first, '{"input":{"prompt":"x"},"idempotency_key":"k"}')).toBe(409);
      expect(
        await replays(first, '{"input":{"prompt":"X","files":[]},"idempotency_key":"k"}'),
      ).toBe(409);
    });

    test('from another client of the same organization, in the same tenant', async () => {
      const client = await addClient(server);
      const body = '{"input":{"prompt":"x"},"idempotency_key":"rotated"}';
      expect(await replays(body, body, client.in(server.quickstart.tenant_id))).toBe(200);
    });
  });

  describe('as the header Idempotency-Key', () => {
    const calls = async () => {
      const { id: session_id } = await openSession(server, 'echo');
      const input = { prompt: 'x' };
      const schedule = { name: 'Yearly', agent_name: 'echo', cron: '0 0 1 1 *', input };
      const { body: made } = await server.send('create_schedule', { body: schedule });
      return {
        create_session: { body: { agent_name: 'echo' } },
        start_run: { params: { session_id }, body: { input: { prompt: 'x' } } },
        prepare_file: { params: { session_id }, body: { name: 'a.txt' } },
        create_schedule: { body: { ...schedule, name: 'Again' } },
        run_schedule: { params: { schedule_id: made.id }, body: {} },
      } as const;
    };

    const idIn = (body: object) => /"id":"([a-z]+_\w+)"/.exec(JSON.stringify(body))?.[1];

    test('is the key of every create and start, with or without the same key in the body', async () => {
      for (const [id, call] of Object.entries(await calls())) {
        const operation = id as keyof Awaited<ReturnType<typeof calls>>;
        const headers = { 'idempotency-key': `header of ${id}` };
        const idempotency_key = headers['idempotency-key'];
        const first = await server.send(operation, { ...call, headers });
        expect(first.headers.get('idempotency-replayed')).toBeNull();
        const both = { ...call.body, idempotency_key };
        for (const again of [
          { ...call, headers },
          { ...call, body: both },
          { ...call, headers, body: both },
        ]) {
          const next = await server.send(operation, again);
          expect([id, next.headers.get('idempotency-replayed')]).toEqual([id, 'true']);
          expect(idIn(next.body)).toBe(idIn(first.body));
        }
        const refused = await server.refused(operation, {
          ...call,
          headers,
          body: { ...call.body, idempotency_key: 'another' },
        });
        expect([id, refused.status, refused.error]).toEqual([id, 400, 'invalid_idempotency_key']);
        expect(refused.message).toContain('idempotency_key');
      }
    });

    test('makes one file, which a repetition returns as it is now (spec §7, D-492)', async () => {
      const { id: session_id } = await openSession(server, 'echo');
      const params = { session_id };
      const headers = { 'idempotency-key': 'one file' };
      const body = { name: 'a.txt' };
      const { body: file } = await server.send('prepare_file', { params, headers, body });
      const conflict = { params, headers, body: { name: 'b.txt' } };
      expect(await server.refused('prepare_file', conflict)).toMatchObject({
        status: 409,
        error: 'idempotency_conflict',
      });
      await server.send('stop_session', { params, body: { mode: 'terminate' } });
      const again = await server.send('prepare_file', { params, headers, body });
      expect([again.status, again.body.id]).toEqual([200, file.id]);
      const { body: listed } = await server.send('list_files', { params });
      expect(listed.files.map(({ id }) => id)).toEqual([file.id]);
    });

    test('is refused for a session token, of which there is no first one (D-492)', async () => {
      const { id: session_id } = await openSession(server, 'echo');
      const headers = { 'idempotency-key': 'one token' };
      const call = { params: { session_id }, headers, body: {} };
      expect(await server.refused('create_session_token', call)).toMatchObject({
        status: 400,
        error: 'invalid_idempotency_key',
      });
    });

    test('never returns the secret of a webhook again, and names the webhook (D-491)', async () => {
      const headers = { 'idempotency-key': 'header of a webhook' };
      const first = await server.send('create_webhook', { headers, body: quietWebhook });
      expect(first.body.secret).toMatch(/^whsec_/);
      const body = { ...quietWebhook, idempotency_key: headers['idempotency-key'] };
      for (const again of [{ headers, body: quietWebhook }, { body }, { headers, body }]) {
        const refused = await server.refused('create_webhook', again);
        expect([refused.status, refused.error]).toEqual([409, 'secret_already_issued']);
        expect(JSON.parse(refused.text).webhook_id).toBe(first.body.webhook.id);
        expect(refused.text).not.toContain('whsec_');
      }
    });

    test('is the key of an invocation', async () => {
      const params = { agent_name: 'echo' };
      const invoke = async (key: Record<string, string>, own: object = {}) =>
        (
          await server.call('POST', pathOf('invoke_agent', { params }), {
            headers: { accept: 'text/event-stream', ...key },
            body: { input: { prompt: 'x' }, ...own },
          })
        ).headers.get('x-run-id');
      const header = { 'idempotency-key': 'header of invoke' };
      const first = await invoke(header);
      expect(first).toMatch(/^run_/);
      expect(await invoke(header)).toBe(first);
      expect(await invoke({}, { idempotency_key: 'header of invoke' })).toBe(first);
      const refused = await server.refused('invoke_agent', {
        params,
        headers: header,
        body: { input: { prompt: 'x' }, idempotency_key: 'another' },
      });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_idempotency_key' });
    });

    test('names the first resource when the body is another (spec §4.2 rule 3)', async () => {
      const { start_run: call } = await calls();
      const headers = { 'idempotency-key': 'conflict' };
      const { body: run } = await server.send('start_run', { ...call, headers });
      const body = { input: { prompt: 'other' } };
      const refused = await server.refused('start_run', { ...call, headers, body });
      expect(refused).toMatchObject({ status: 409, error: 'idempotency_conflict' });
      expect(refused.body).toMatchObject({ run_id: run.id });
      const { organization_id } = server.quickstart;
      const tenant = (display_name: string) => ({
        params: { organization_id },
        headers: { 'idempotency-key': 'tenant conflict' },
        body: { display_name, mode: 'saas' },
      });
      const { body: made } = await server.send('create_tenant', tenant('One'));
      const conflict = await server.refused('create_tenant', tenant('Two'));
      expect(conflict.body).toMatchObject({ tenant_id: made.id });
    });
  });

  describe('is another request', () => {
    test('in another tenant', async () => {
      const body = { agent_name: 'echo', idempotency_key: 'shared word' };
      const mine = await server.send('create_session', { body });
      const as = (await addClient(server)).in(await addTenant(server));
      const theirs = await server.send('create_session', { as, body });
      expect([mine.status, theirs.status]).toEqual([201, 201]);
      expect(theirs.body.id).not.toBe(mine.body.id);
    });

    test('of another operation, and in another session', async () => {
      const idempotency_key = 'many uses';
      const made: (SessionRecord | RunRecord)[] = [];
      for (const agent_name of ['echo', 'echo']) {
        const session = await openSession(server, agent_name);
        const { status, body } = await server.send('start_run', {
          params: { session_id: session.id },
          body: { input: { prompt: 'x' }, idempotency_key },
        });
        expect(status).toBe(201);
        made.push(body);
      }
      const { status, body } = await server.send('create_session', {
        body: { agent_name: 'echo', idempotency_key },
      });
      expect(status).toBe(201);
      made.push(body);
      expect(new Set(made.map(({ id }) => id)).size).toBe(3);
    });
  });

  test('a key of a refused request can be used again', async () => {
    const idempotency_key = 'second try';
    const refused = await server.refused('create_session', {
      body: { agent_name: 'nobody', idempotency_key },
    });
    expect(refused.status).toBe(404);
    const { status } = await server.send('create_session', {
      body: { agent_name: 'echo', idempotency_key },
    });
    expect(status).toBe(201);
  });
});
