import type { JsonObject, ScheduleRecord } from '@convoke/contract';
import { limits } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../support/agents.ts';
import { openSession } from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { addClient, addTenant } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';

const yearly = {
  name: 'Yearly',
  agent_name: 'echo',
  cron: '0 0 1 1 *',
  input: { prompt: 'hi' },
};
const minute = 60_000;
/** As many as a run may have; a run of a schedule has the id of the schedule too. */
const sixteen = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, 'v']));

describe.each(databaseKinds)('schedules over HTTP on %s', (database) => {
  let server: TestServer;
  const clock = new MovingClock();
  beforeAll(async () => {
    const agents = { ...usualAgents, hermit: { ...usualAgents.sleeper, on_busy: 'reject' } };
    server = await startServer({ database, agents, clock });
  });

  const create = async (changes: JsonObject = {}): Promise<ScheduleRecord> =>
    (await server.send('create_schedule', { body: { ...yearly, ...changes } })).body;
  const of = ({ id }: Pick<ScheduleRecord, 'id'>) => ({ schedule_id: id });
  const refusal = async (changes: JsonObject) => {
    const before = await server.send('list_schedules', {});
    const refused = await server.refused('create_schedule', { body: { ...yearly, ...changes } });
    expect((await server.send('list_schedules', {})).text).toBe(before.text);
    return refused;
  };

  describe('create', () => {
    test('answers 201 with the fields of D-140 and every default', async () => {
      const { status, body } = await server.send('create_schedule', { body: yearly });
      expect(status).toBe(201);
      expect(body).toEqual({
        ...yearly,
        id: expect.stringMatching(/^sch_[0-9a-hjkmnp-tv-z]{26}$/),
        time_zone: 'UTC',
        session: { mode: 'new' },
        labels: {},
        overlap: 'skip',
        missed: 'once',
        missed_within_seconds: 3600,
        status: 'active',
        next_at: expect.stringMatching(/-01-01T00:00:00\.000Z$/),
        version: 1,
        created_by: expect.stringMatching(/^cli_/),
        created_by_name: 'Quickstart',
        created_at: expect.stringMatching(/\.\d{3}Z$/),
        updated_at: body.created_at,
      });
    });

    test('with a key that was used answers the first schedule, with another body a conflict (D-57)', async () => {
      const body = { ...yearly, idempotency_key: 'yearly' };
      const first = await server.send('create_schedule', { body });
      const again = await server.send('create_schedule', { body });
      expect(again).toMatchObject({ status: 200, body: { id: first.body.id } });
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      const other = { ...body, name: 'Other' };
      const refused = await server.refused('create_schedule', { body: other });
      expect(refused).toMatchObject({ status: 409, error: 'idempotency_conflict' });
    });

    test.each([
      [{ cron: '0 0 30 2 *' }, 400, 'invalid_cron', /^cron: /],
      [{ cron: '* * * * * *' }, 400, 'invalid_cron', /^cron: must have five fields/],
      [{ time_zone: 'Nowhere/City' }, 400, 'invalid_time_zone', /^time_zone: Nowhere/],
      [{ labels: { Team: 'a' } }, 400, 'invalid_label', /^labels: "Team"/],
      [{ labels: sixteen }, 409, 'label_limit_reached', /^labels: /],
      [{ agent_name: 'absent' }, 404, 'agent_not_found', /agent/],
      [{ session: { mode: 'keep', session_id: 'sess_never' } }, 404, 'not_found', /./],
      [{ session: { mode: 'new', session_id: 'sess_1' } }, 400, 'unknown_field', /session/],
      [{ input: { prompt: '' } }, 400, 'invalid_body', /^input\.prompt/],
      [{ input: { prompt: 'x', files: ['file_1'] } }, 400, 'unknown_field', /^input\.files/],
      [{ input: { prompt: 'x'.repeat(70_000) } }, 400, 'invalid_body', /^input: /],
      [{ missed_within_seconds: -1 }, 400, 'invalid_body', /missed_within_seconds/],
      [{ name: ' ' }, 400, 'invalid_body', /name/],
    ])(
      '%j is refused, names the field and changes nothing',
      async (...[changes, status, error, says]) => {
        const refused = await refusal(changes);
        expect(refused).toMatchObject({ status, error });
        expect(refused.message).toMatch(says);
      },
    );

    test('refuses a session that has ended, and one of another agent', async () => {
      const session = await openSession(server, 'echo');
      const keep = { session: { mode: 'keep', session_id: session.id } };
      const other = await refusal({ ...keep, agent_name: 'sleeper' });
      expect(other).toMatchObject({ status: 400, error: 'invalid_body' });
      const params = { session_id: session.id };
      await server.send('stop_session', { params, body: { mode: 'terminate' } });
      expect(await refusal(keep)).toMatchObject({ status: 409, error: 'session_terminal' });
    });

    test('refuses one schedule more than the tenant may have, also when many come at once', async () => {
      const tenant = await addTenant(server, 'Full');
      const as = (await addClient(server, {})).in(tenant);
      const ask = () => server.fetch('POST', '/v1/schedules', { as, body: yearly });
      // One after the other: a hundred at once may wait longer for a connection to the database than they are allowed
      // to.
      for (let left = limits.schedulesPerTenant; left > 5; left -= 1) {
        expect((await ask()).status).toBe(201);
      }
      const statuses = (await Promise.all(Array.from({ length: 8 }, ask))).map(
        ({ status }) => status,
      );
      expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 201, 201, 201, 409, 409, 409]);
      const refused = await server.refused('create_schedule', { as, body: yearly });
      expect(refused).toMatchObject({ status: 409, error: 'schedule_limit_reached' });
    });
  });

  test('lists summaries without inputs, by status and agent, page by page', async () => {
    const secret = 'a prompt that lists do not show';
    const paused = await create({ agent_name: 'asker', input: { prompt: secret } });
    await create({ agent_name: 'asker' });
    await server.send('pause_schedule', { params: of(paused) });
    const query = { agent_name: 'asker', status: 'paused' };
    const { body, text } = await server.send('list_schedules', { query });
    expect(body.schedules.map(({ id }) => id)).toEqual([paused.id]);
    expect(text).not.toContain(secret);
    const first = await server.send('list_schedules', {
      query: { agent_name: 'asker', limit: '1' },
    });
    const { next_cursor: cursor = '' } = first.body;
    const second = await server.send('list_schedules', {
      query: { agent_name: 'asker', limit: '1', cursor },
    });
    expect(second.body.schedules.map(({ id }) => id)).toEqual([paused.id]);
    expect((await server.refused('list_schedules', { query: { status: 'x' } })).error).toBe(
      'invalid_status',
    );
  });

  test('reads, changes, pauses, resumes and deletes a schedule', async () => {
    const made = await create();
    const params = of(made);
    expect((await server.send('get_schedule', { params })).body).toEqual(made);
    const change = { cron: '0 12 * * *', time_zone: 'Asia/Kathmandu', input: { prompt: 'new' } };
    const { body: changed } = await server.send('update_schedule', {
      params,
      body: { version: 1, ...change, missed_within_seconds: 60 },
    });
    expect(changed).toMatchObject({ ...change, version: 2, missed_within_seconds: 60 });
    expect(changed.next_at).toMatch(/T06:15:00\.000Z$/);
    const { body: paused } = await server.send('pause_schedule', { params });
    expect(paused).toMatchObject({ status: 'paused', version: 3 });
    expect(paused.next_at).toBeUndefined();
    const { body: resumed } = await server.send('resume_schedule', { params });
    expect(resumed).toMatchObject({ status: 'active', next_at: changed.next_at, version: 4 });
    expect((await server.send('delete_schedule', { params })).status).toBe(204);
    expect((await server.refused('get_schedule', { params })).error).toBe('not_found');
    // Deleting it again succeeds (D-490).
    expect((await server.send('delete_schedule', { params })).status).toBe(204);
  });

  test.each([
    [{ cron: '0 12 * * *' }, true],
    [{ time_zone: 'Asia/Tokyo' }, true],
    [{ input: { prompt: 'pay' } }, true],
    [{ cron: yearly.cron, time_zone: 'UTC', input: yearly.input }, false],
    [{ name: 'Renamed', labels: { a: 'b' }, overlap: 'queue', missed: 'skip' }, false],
  ])('another client that changes %o takes it over: %s', async (change, isTakenOver) => {
    const made = await create();
    const other = await addClient(server);
    const { body } = await server.send('update_schedule', {
      as: other.in(server.quickstart.tenant_id),
      params: of(made),
      body: { version: 1, ...change },
    });
    expect(body).toMatchObject(change);
    expect(body.created_by).toBe(isTakenOver ? other.record.id : made.created_by);
    expect((await server.send('get_schedule', { params: of(made) })).body).toEqual(body);
  });

  test('refuses a change with an old version, a bad pattern or an agent that is gone', async () => {
    await server.writeAgent('passing', usualAgents.echo);
    await eventually(async () => {
      const { body } = await server.send('list_agents', {});
      return body.agents.some(({ name }) => name === 'passing');
    });
    const made = await create({ agent_name: 'passing' });
    const change = async (body: JsonObject) =>
      server.refused('update_schedule', { params: of(made), body: { version: 1, ...body } });
    expect((await change({ version: 2 })).error).toBe('version_conflict');
    expect((await change({ cron: 'daily' })).error).toBe('invalid_cron');
    expect((await change({ time_zone: '+02:00' })).error).toBe('invalid_time_zone');
    expect((await change({ agent_name: 'echo' })).error).toBe('unknown_field');
    expect((await change({ labels: { Team: 'a' } })).error).toBe('invalid_label');
    expect((await change({ labels: sixteen })).error).toBe('label_limit_reached');
    await server.removeAgent('passing');
    await eventually(async () => {
      const { body } = await server.send('list_agents', {});
      return body.agents.every(({ name }) => name !== 'passing');
    });
    expect((await change({ input: { prompt: 'x' } })).error).toBe('agent_not_found');
    expect((await server.refused('run_schedule', { params: of(made) })).error).toBe(
      'agent_not_found',
    );
    expect((await server.send('get_schedule', { params: of(made) })).body).toEqual(made);
  });

  test('previews the next slots, also of a paused schedule', async () => {
    const made = await create({ cron: '30 2 * * *', time_zone: 'Europe/Berlin' });
    await server.send('pause_schedule', { params: of(made) });
    const { body } = await server.send('preview_schedule', { params: of(made) });
    expect(body.times).toHaveLength(10);
    expect(body.times[0]).toBe(made.next_at);
    expect(body.times).toEqual(body.times.toSorted());
    const two = await server.send('preview_schedule', { params: of(made), query: { count: '2' } });
    expect(two.body.times).toEqual(body.times.slice(0, 2));
    for (const count of ['0', '101', 'x', '1.5']) {
      const refused = await server.refused('preview_schedule', {
        params: of(made),
        query: { count },
      });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_query' });
    }
  });

  test('starts a run now, once for each key, with the labels of the schedule', async () => {
    const { id } = await create({ labels: { team: 'ops', tier: 'gold' } });
    const changed = { version: 1, labels: { tier: null, ticket: 'OPS-1' } };
    const { body: made } = await server.send('update_schedule', {
      params: of({ id }),
      body: changed,
    });
    expect(made.labels).toEqual({ team: 'ops', ticket: 'OPS-1' });
    const request = { params: of(made), body: { idempotency_key: 'now' } };
    const { status, body: run } = await server.send('run_schedule', request);
    expect(status).toBe(201);
    expect(run).toMatchObject({ agent_name: 'echo', input: { prompt: 'hi' } });
    expect(run.labels).toEqual({ ...made.labels, schedule_id: id });
    const again = await server.send('run_schedule', request);
    expect(again).toMatchObject({ status: 200, body: { id: run.id } });
    const { body: after } = await server.send('get_schedule', { params: of(made) });
    expect(after).toEqual({ ...made, last_run_id: run.id });
  });

  test('a run now is refused as in its session', async () => {
    const file = async (session_id: string) => {
      const { body } = await server.send('prepare_file', {
        params: { session_id },
        body: { name: 'a.txt' },
      });
      return body.id;
    };
    const keeping = async (agent_name: string, files = false) => {
      const session = await openSession(server, agent_name);
      const input = files ? { prompt: 'hi', files: [await file(session.id)] } : { prompt: 'hi' };
      const made = await create({
        agent_name,
        input,
        session: { mode: 'keep', session_id: session.id },
      });
      return { params: of(made), session: { session_id: session.id } };
    };
    const unready = await keeping('echo', true);
    expect((await server.refused('run_schedule', unready)).error).toBe('file_not_ready');
    const busy = await keeping('hermit');
    await server.send('run_schedule', { params: busy.params });
    expect((await server.refused('run_schedule', { params: busy.params })).error).toBe(
      'session_busy',
    );
    const stopped = await keeping('echo');
    await server.send('stop_session', { params: stopped.session });
    const call = { params: stopped.params };
    expect((await server.refused('run_schedule', call)).error).toBe('session_stopped');
    await server.send('stop_session', { params: stopped.session, body: { mode: 'terminate' } });
    expect((await server.refused('run_schedule', call)).error).toBe('session_terminal');
  });

  test('a key for a run now conflicts with nothing but itself', async () => {
    const [one, two] = [await create(), await create()];
    const body = { idempotency_key: 'same' };
    const first = await server.send('run_schedule', { params: of(one), body });
    const second = await server.send('run_schedule', { params: of(two), body });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('the server itself starts the run of a slot, and tells its outcome', async () => {
    // Far from the end of a minute: the clock also moves while the test runs, and two slots would be due at once.
    clock.advance(minute - (clock.now() % minute) + 10_000);
    const made = await create({ cron: '* * * * *', overlap: 'queue' });
    const fires = async (query: Record<string, string>) =>
      (await server.send('list_fires', { params: of(made), query: { order: 'asc', ...query } }))
        .body;
    clock.advance(minute);
    const fire = await eventually(async () => (await fires({})).fires[0]);
    expect(fire).toMatchObject({ slot_at: made.next_at, outcome: 'started' });
    const params = { session_id: fire.session_id ?? '', run_id: fire.run_id ?? '' };
    const run = await eventually(async () => {
      const { body } = await server.send('get_run', { params });
      return body.status === 'completed' && body;
    });
    expect(run.output_text).toBe('hi (run 1)');
    clock.advance(minute);
    const cursor = await eventually(async () => (await fires({ limit: '1' })).next_cursor);
    const { fires: later } = await fires({ limit: '1', cursor });
    expect(Date.parse(later[0]?.slot_at ?? '')).toBe(Date.parse(fire.slot_at) + minute);
    await server.send('delete_schedule', { params: of(made) });
  });

  test('every change is a row of the audit, without the input', async () => {
    const made = await create({ input: { prompt: 'not for the audit' } });
    const params = of(made);
    await server.send('update_schedule', { params, body: { version: 1, name: 'Other' } });
    await server.send('pause_schedule', { params });
    await server.send('pause_schedule', { params });
    await server.send('resume_schedule', { params });
    await server.send('run_schedule', { params });
    await server.send('delete_schedule', { params });
    const rows = await server.convoke.services.store.read.audit.newest(undefined, 50);
    const ours = rows.filter(({ object }) => object === made.id);
    expect(ours.map(({ action }) => action).toReversed()).toEqual([
      'schedule.create',
      'schedule.update',
      'schedule.pause',
      'schedule.resume',
      'schedule.run',
      'schedule.delete',
    ]);
    expect(JSON.stringify(ours)).not.toContain('not for the audit');
  });
});
