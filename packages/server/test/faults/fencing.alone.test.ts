import { type RunRecord, organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { markLiveAnswers } from '../../src/app/interactions.ts';
import type { Holder } from '../../src/app/record.ts';
import type { PlacedNote } from '../../src/execution/recording/leg-notes.ts';
import { type LegBatch, recordLeg } from '../../src/execution/recording/record-leg.ts';
import { answer, begin, ended, logOf, pendingIn, readRun, textOf } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { type TestServer, startServer } from '../support/server.ts';

const nothing: LegBatch = {
  items: [],
  notes: [],
  context: undefined,
  end: undefined,
};

// I9: a worker that lost its lease without noticing still holds an old epoch of the run.
describe.each(databaseKinds)('a worker with an old lease, on %s', (database) => {
  const puppet = new Puppet();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      database,
      harnesses: [puppet],
      agents: { puppet: puppet.agent() },
    });
  });

  const holderOf = (run: RunRecord, epoch: number): Holder => {
    const { organization_id, tenant_id } = server.quickstart;
    return {
      scope: { organizationId: organizationId(organization_id), tenantId: tenantId(tenant_id) },
      sessionId: sessionId(run.session_id),
      runId: runId(run.id),
      epoch,
    };
  };
  const record = (holder: Holder, batch: Partial<LegBatch>) =>
    recordLeg(server.convoke.services, holder, {
      take: () => ({ ...nothing, ...batch }),
      waitMs: 1_000,
      inDoubtAfter: undefined,
      lossesTotal: 0,
      maker: { format: 1, agent: '' },
      rules: { agentName: 'agent', agent: [], startedBy: null },
    });

  test('can add nothing, end nothing and store nothing while another executes', async () => {
    const { session, run } = await begin(server, 'puppet');
    const first = await puppet.leg();
    first.emit({ type: 'user_question', ref: 'q', question: 'Which?' });
    first.emit({ type: 'checkpoint', state: 'of the first leg' });
    first.end('waiting');
    await answer(server, await pendingIn(server, session.id), { answer: 'this' });
    const second = await puppet.leg();
    const before = await readRun(server, run);
    expect(before.status).toBe('running');

    const stale = holderOf(run, 1);
    const note: PlacedNote = {
      note: { kind: 'checkpoint', state: 'stale', isRecoveryPoint: true },
      after: 0,
    };
    const { services } = server.convoke;
    const said = { type: 'message_delta', data: { text: 'stale', framework: 'x', model: 'x' } };
    const end = { status: 'completed', outputText: 'stale' } as const;
    expect(await record(stale, { items: [said] })).toBeUndefined();
    expect(
      await record(stale, { notes: [note], context: { text: '{}', snapshot: 'stale' } }),
    ).toBeUndefined();
    expect(await record(stale, { items: [said], end })).toBeUndefined();
    const asked = { type: 'user_question', ref: 'stale', question: 'Stale?' } as const;
    expect(await record(stale, { items: [asked] })).toBeUndefined();
    await markLiveAnswers(services, stale);

    expect(await readRun(server, run)).toEqual(before);
    const { checkpoint } = await services.store.read.sessions.state(sessionId(session.id));
    expect(checkpoint).toBe('"of the first leg"');
    second.say('from the second');
    second.end();
    expect((await ended(server, run)).status).toBe('completed');
    expect(textOf(await logOf(server, run))).toBe('from the second');
  });

  test('can add nothing to a run that has ended', async () => {
    const { run } = await begin(server, 'puppet');
    (await puppet.leg()).end();
    const before = await ended(server, run);
    const said = { type: 'message_delta', data: { text: 'late', framework: 'x', model: 'x' } };
    expect(await record(holderOf(run, 1), { items: [said] })).toBeUndefined();
    expect(await readRun(server, run)).toEqual(before);
  });
});
