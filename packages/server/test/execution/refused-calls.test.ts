import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { readRules, rulesOfAgent } from '../../src/domain/rules/rule.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { CallEvent } from '../../src/execution/recording/raise-calls.ts';
import { sql } from '../../src/store/sql.ts';
import { agentOf } from '../support/agent-folders.ts';
import {
  type CallingWorld,
  createCallingWorld,
  only,
  parked,
  research,
} from '../support/calling-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';

describe.each(databaseKinds)('a call that may not be, or not yet, on %s (D-921)', (kind) => {
  let of: CallingWorld;
  beforeAll(async () => {
    of = await createCallingWorld(kind);
  });

  const refused: readonly [string, Partial<CallEvent>, RegExp][] = [
    ['an agent that agent.yaml does not name', { name: 'stranger' }, /may not call stranger/],
    ['an agent that does not exist', { name: 'nobody' }, /does not exist or is not enabled/],
    ['itself', { name: 'agent' }, /agent is one of the callers/],
    ['files', { input: { prompt: 'x', files: ['file_1'] } }, /takes no files/],
    ['an input that the agent does not take', { input: { question: 1 } }, /input/],
  ];

  test.each(refused)('is refused as a value: %s', async (_name, parts, message) => {
    const { run, leg } = await of.begun();
    const other = { ...research, ref: 'call researcher 2' };
    await of.world.record(leg, { items: [{ ...research, ...parts }, other], end: parked });
    const wait = await of.waitOf(run);
    expect(wait).toMatchObject({ status: 'settled', childRunId: null });
    expect(wait?.result).toMatchObject({ outcome: 'refused', code: 'refused' });
    expect(wait?.result).toHaveProperty('message', expect.stringMatching(message));
    // The other call of the batch is started, and the caller gets its refusal at once.
    expect(await of.calledBy(run)).toHaveLength(1);
    expect(await of.resultIn(run)).toMatchObject({ state: 'settled', number: 1 });
    expect(await of.world.read(run)).toMatchObject({ openWaits: 1 });
    const ended = (await of.world.logOf(run.id)).find(({ type }) => type === 'wait_ended');
    expect(ended?.data).toMatchObject({ outcome: 'refused', error_code: 'refused' });
  });

  test('is refused where the client behind the caller may start no runs any more', async () => {
    const run = await of.world.start(await of.world.open());
    await of.world.record(await of.world.claimed(run), { items: [research], end: parked });
    expect((await of.waitOf(run))?.result).toMatchObject({ outcome: 'refused' });
  });

  test('is no caller of its callers, and stands at most five deep', async () => {
    let { run, leg } = await of.begun();
    for (const name of ['researcher', 'critic', 'editor', 'clerk', 'porter']) {
      const back = { ...research, ref: 'call agent 1', name: 'agent' };
      await of.world.record(leg, { items: [{ ...research, name }, back] });
      expect((await of.waitOf(run, back.ref))?.result).toMatchObject({ outcome: 'refused' });
      run = only(await of.calledBy(run));
      leg = await of.world.claimed(run);
    }
    expect(run.ancestors?.split('/')).toHaveLength(6);
    await of.world.record(leg, { items: [{ ...research, name: 'guard' }] });
    expect(await of.calledBy(run)).toEqual([]);
    const why = { message: 'Calls go 5 deep at most.' };
    expect((await of.waitOf(run))?.result).toMatchObject(why);
  });

  test('is one of a hundred of its caller at most', async () => {
    const { run, leg } = await of.begun();
    const many = Array.from({ length: 102 }, (_, at) => ({ ...research, ref: `call ${at}` }));
    await of.world.record(leg, { items: many, end: parked });
    expect(await of.calledBy(run)).toHaveLength(100);
    expect((await of.waitOf(run, 'call 100'))?.result).toHaveProperty(
      'message',
      'A run calls at most 100 others.',
    );
  });

  test('is one of a thousand runs below the root at most, wherever it is made', async () => {
    const { run: root, leg } = await of.begun();
    await of.world.record(leg, { items: [research] });
    const child = only(await of.calledBy(root));
    const below = await of.world.claimed(child);
    // All but one of them, as rows.
    const columns = sql`organization_id, tenant_id, session_id, agent_name, ancestors, input,
      pending_interactions, last_seq, last_event_at, lease_epoch, created_at, started_at`;
    await of.world.database.transaction((tx) =>
      tx.run(sql`
        insert into runs (id, number, status, status_at, ended_at, ${columns})
        with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 998)
        select id || '_' || n, number + n, 'completed', created_at, created_at, ${columns}
        from numbers join runs on runs.id = ${child.id}`),
    );
    const review = { ...research, ref: 'call critic 1', name: 'critic' };
    const last = { ...research, ref: 'call editor 1', name: 'editor' };
    await of.world.record(below, { items: [review, last], end: parked });
    expect(only(await of.calledBy(child)).agentName).toBe('critic');
    const message = 'At most 1000 runs are called below one.';
    expect((await of.waitOf(child, last.ref))?.result).toMatchObject({ code: 'refused', message });
  });

  const rules = (effect: 'approval' | 'deny') => ({
    agentName: 'agent',
    startedBy: null,
    agent: rulesOfAgent(
      agentOf(
        effect === 'approval'
          ? { approvalRequiredTools: ['call_*'] }
          : {
              rules: readRules([
                { name: 'no-calls', tools: ['call_*'], effect: 'deny', reason: 'Not today.' },
              ]),
            },
      ),
    ),
  });

  async function asked() {
    const { run, leg } = await of.begun();
    await of.world.record(leg, { items: [research], end: parked }, rules('approval'));
    const [request] = await of.world.store.read.interactions.pending(run.id, 2);
    if (request === undefined) throw new Error('nobody was asked');
    expect(request).toMatchObject({
      kind: 'permission',
      toolName: 'call_researcher',
      toolInput: { prompt: 'chairs' },
    });
    return { run: await of.world.read(run), request };
  }

  const answer = (run: Run, key: string, body: object) =>
    answerInteraction(of.world, of.world.scope, {
      sessionId: run.sessionId,
      key: key as never,
      body: body as never,
      by,
      allower,
    });

  test('waits for a person where a rule says so, and only the approved input is started', async () => {
    const { run, request } = await asked();
    expect(run).toMatchObject({ status: 'waiting', openWaits: 0, pendingInteractions: 1 });
    expect(await of.calledBy(run)).toEqual([]);
    const updated_input = { prompt: 'tables' };
    await answer(run, request.key, { decision: 'allow', updated_input });
    const leg = await of.world.claimed(await of.world.read(run));
    const forged = { ...research, input: { prompt: 'thrones' } };
    await of.world.record(leg, { items: [forged], end: parked }, rules('approval'));
    expect(only(await of.calledBy(run)).input).toBe('{"prompt":"tables"}');
  });

  test('that a person does not allow is a value, with the words of that person', async () => {
    const { run, request } = await asked();
    await answer(run, request.key, { decision: 'deny', message: 'Too expensive.' });
    const leg = await of.world.claimed(await of.world.read(run));
    await of.world.record(leg, { items: [research], end: parked }, rules('approval'));
    expect(await of.calledBy(run)).toEqual([]);
    const result = { outcome: 'refused', code: 'denied', message: 'Too expensive.' };
    expect(await of.resultIn(run)).toMatchObject({ result });
  });

  test('that a rule denies is a value, and the decision is in the log', async () => {
    const { run, leg } = await of.begun();
    await of.world.record(leg, { items: [research], end: parked }, rules('deny'));
    const message = expect.stringContaining('Not today.');
    const result = { outcome: 'refused', code: 'denied', message };
    expect(await of.resultIn(run)).toMatchObject({ result });
    const types = (await of.world.logOf(run.id)).map(({ type }) => type);
    expect(types).toContain('call_decided');
  });
});
