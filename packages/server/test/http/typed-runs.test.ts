import { beforeAll, describe, expect, test } from 'vitest';
import { type JsonObject, type OperationId, errorBody } from '@convoke/contract';
import { usualAgents } from '../support/agents.ts';
import {
  answer,
  cancel,
  ended,
  logOf,
  openSession,
  pendingIn,
  readRun,
  startRun,
} from '../support/api-steps.ts';
import type { OperationCall } from '../support/checked-calls.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';

const inputSchema = {
  type: 'object',
  properties: { ticket: { type: 'integer', minimum: 1 }, prompt: { type: 'string' } },
  required: ['ticket'],
};
const outputSchema = {
  type: 'object',
  properties: { team: { type: 'string', enum: ['billing', 'tech'] }, note: { type: 'string' } },
  required: ['team'],
  additionalProperties: false,
};
/** Returns what the input says. */
const triage = {
  input_schema: inputSchema,
  output_schema: outputSchema,
  script: [
    { say: 'Read ticket {{input.ticket}}.' },
    { output: { team: 'none' } },
    { output: { team: 'billing', note: '{{input.prompt}}' } },
  ],
};

class TypedPuppet extends Puppet {
  readonly output = 'native';
}

describe.each(deployments)('typed runs on %s', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    puppet = new TypedPuppet();
    server = await startServer({
      database,
      harnesses: [puppet],
      agents: {
        ...usualAgents,
        triage,
        asking: {
          output_schema: outputSchema,
          script: [{ output: { team: 'tech' } }, { ask: { question: 'Sure?' } }, { say: 'Done.' }],
        },
        mistaken: {
          output_schema: outputSchema,
          script: [{ ask: { question: 'Sure?' } }, { output: { team: 'sales' } }],
        },
        puppet: puppet.agent({ output_schema: outputSchema }),
        free: puppet.agent(),
      },
    });
  });

  /** The whole body of a refusal with this code. */
  const refusal = async (id: OperationId, call: OperationCall, error: string) => {
    const refused = await server.refused(id, call);
    expect(refused.error).toBe(error);
    return errorBody.parse(refused.body);
  };
  const start = async (agent: string, input: JsonObject) => {
    const { id } = await openSession(server, agent);
    const { body } = await server.send('start_run', {
      params: { session_id: id },
      body: { input },
    });
    return body;
  };
  const returning = async (agent: string, output: unknown) => {
    const run = await start(agent, { prompt: 'go' });
    const leg = await puppet.leg();
    leg.say('So.');
    leg.emit({ type: 'end', outcome: 'completed', output: output as null });
    return ended(server, run);
  };

  test('an agent shows what it takes and returns, and its version (D-560, D-574)', async () => {
    const { body } = await server.send('get_agent', { params: { agent_name: 'triage' } });
    expect(body).toMatchObject({
      input_schema: { ...inputSchema, additionalProperties: false },
      output_schema: outputSchema,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { body: list } = await server.send('list_agents');
    const listed = list.agents.find(({ name }) => name === 'triage');
    expect(listed).toMatchObject({ output_schema: outputSchema, digest: body.digest });
    expect(list.agents.find(({ name }) => name === 'echo')).not.toHaveProperty('output_schema');
  });

  test('a run returns its output, on its record and before its end (D-565, D-566)', async () => {
    const run = await start('triage', { ticket: 7, prompt: 'Hm?' });
    const output = { team: 'billing', note: 'Hm?' };
    const read = await ended(server, run);
    const digest = (await server.send('get_agent', { params: { agent_name: 'triage' } })).body
      .digest;
    expect(read).toMatchObject({
      status: 'completed',
      input: { ticket: 7, prompt: 'Hm?' },
      output,
      output_text: 'Read ticket 7.',
      agent_digest: digest,
    });
    const found = await server.send('find_run', { params: { run_id: run.id } });
    expect(found.body.output).toEqual(output);
    const listed = await server.send('list_runs', { params: { session_id: run.session_id } });
    expect(listed.body.runs).toMatchObject([{ id: run.id, output }]);
    const log = await logOf(server, run);
    expect(log[0]).toMatchObject({ type: 'run_started', data: { agent_digest: digest } });
    expect(log.slice(-2)).toMatchObject([
      { type: 'run_output', data: { run_id: run.id, output } },
      { type: 'run_completed' },
    ]);
  });

  test('lists of a tenant hold no output, and find the runs of a version (D-565, D-574)', async () => {
    const run = await ended(server, await start('triage', { ticket: 8 }));
    const list = async (agent_digest: string) =>
      (await server.send('list_tenant_runs', { query: { agent_digest } })).body.runs;
    const digest = run.agent_digest ?? '';
    const found = await list(digest.slice(0, 8));
    expect(found.every(({ agent_name }) => agent_name === 'triage')).toBe(true);
    const summary = found.find(({ id }) => id === run.id);
    expect(summary).toMatchObject({ agent_digest: digest, preview: 'ticket 8' });
    expect(summary).not.toHaveProperty('output');
    expect(await list(digest)).toHaveLength(found.length);
    expect(await list('00000000')).toEqual([]);
    for (const agent_digest of ['5f0c9a1', 'XYZXYZXY', `${digest}0`]) {
      await refusal('list_tenant_runs', { query: { agent_digest } }, 'invalid_query');
    }
  });

  test('an input that does not fit is refused with pointers, and its key stays free (D-562, D-564)', async () => {
    const { id } = await openSession(server, 'triage');
    const params = { session_id: id };
    const headers = { 'idempotency-key': `typed-${id}` };
    const input = { ticket: '7', colour: 'red' };
    const refused = await refusal(
      'start_run',
      { params, headers, body: { input } },
      'invalid_body',
    );
    expect(refused).toMatchObject({
      message: expect.stringContaining('input does not fit the input_schema of triage: /input/'),
      issues: expect.arrayContaining([
        { pointer: '/input/ticket', message: 'must be integer' },
        { pointer: '/input/colour', message: 'is not declared' },
      ]),
    });
    expect((await server.send('list_runs', { params })).body.runs).toEqual([]);
    const started = await server.send('start_run', {
      params,
      headers,
      body: { input: { ticket: 7 } },
    });
    expect(started.status).toBe(201);
    const again = await server.send('start_run', {
      params,
      headers,
      body: { input: { ticket: 7 } },
    });
    expect([again.status, again.body.id]).toEqual([200, started.body.id]);
  });

  test('a large input that is wrong costs no more than its first fault (D-564)', async () => {
    const { id } = await openSession(server, 'triage');
    const input = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`m${n}`, n]));
    const body = { input: { ticket: 1, ...input } };
    const refused = await refusal(
      'start_run',
      { params: { session_id: id }, body },
      'invalid_body',
    );
    expect(refused.issues).toHaveLength(1);
  });

  test('an agent without an input schema takes a prompt, as ever (D-22)', async () => {
    const { id } = await openSession(server, 'echo');
    for (const [input, code] of [
      [{}, 'invalid_body'],
      [{ prompt: 'hi', ticket: 7 }, 'unknown_field'],
    ] as const) {
      const refused = await refusal(
        'start_run',
        { params: { session_id: id }, body: { input } },
        code,
      );
      expect(refused).not.toHaveProperty('issues');
    }
  });

  test('a schedule is checked when it is saved (D-562)', async () => {
    const body = { name: 'Nightly', agent_name: 'triage', cron: '0 3 * * *', input: { ticket: 0 } };
    const refused = await refusal('create_schedule', { body }, 'invalid_body');
    expect(refused).toMatchObject({
      issues: [{ pointer: '/input/ticket', message: 'must be >= 1' }],
    });
    const created = await server.send('create_schedule', {
      body: { ...body, input: { ticket: 1 } },
    });
    expect(created.status).toBe(201);
  });

  test.each<[string, unknown, string]>([
    ['is missing', undefined, 'ended without the output that its output_schema describes'],
    ['does not fit', { team: 'sales' }, '/team must be one of "billing", "tech"'],
    ['misses a member', {}, '/team is missing'],
    ['is of another type', 'billing', '/ must be object'],
    ['is too large', { team: 'tech', note: 'x'.repeat(256 * 1024) }, 'is larger than 256 KiB'],
  ])('an output that %s fails the run as output_invalid (D-567)', async (_, output, message) => {
    const read = await returning('puppet', output);
    expect(read).toMatchObject({
      status: 'failed',
      error_code: 'output_invalid',
      error_message: expect.stringContaining(message),
      output_text: 'So.',
    });
    expect(read).not.toHaveProperty('output');
    const types = (await logOf(server, read)).map(({ type }) => type);
    expect([types.includes('run_output'), types.at(-1)]).toEqual([false, 'error']);
  });

  test.each([[null], [7], ['text'], [[1, { a: '\u0000\ud800' }]], [{ __proto__: null, a: 1 }]])(
    'without an output schema any JSON value is an output: %j (D-567)',
    async (output) => {
      const read = await returning('free', output);
      expect(read.status).toBe('completed');
      expect(read.output).toEqual(JSON.parse(JSON.stringify(output)));
    },
  );

  test('a run without an output shows none', async () => {
    const read = await returning('free', undefined);
    expect(read.status).toBe('completed');
    expect(read).not.toHaveProperty('output');
  });

  test('an output of exactly the limit is kept whole', async () => {
    const output = 'x'.repeat(256 * 1024 - 2);
    expect((await returning('free', output)).output).toBe(output);
    expect((await returning('free', `${output}x`)).error_code).toBe('output_invalid');
  });

  test('a cancel that was recorded drops the output of its run (D-24, D-566)', async () => {
    const run = await start('puppet', { prompt: 'go' });
    const leg = await puppet.leg();
    leg.isObedient = false;
    await cancel(server, run);
    await leg.cancelled.promise;
    leg.emit({ type: 'end', outcome: 'completed', output: { team: 'tech' } });
    const read = await ended(server, run);
    expect(read.status).toBe('cancelled');
    expect(read).not.toHaveProperty('output');
    expect((await logOf(server, run)).map(({ type }) => type)).not.toContain('run_output');
  });

  test('an output that was given before a question is the one after its answer', async () => {
    const run = await startRun(server, await openSession(server, 'asking'), 'go');
    await answer(server, await pendingIn(server, run.session_id), { answer: 'yes' });
    expect((await ended(server, run)).output).toEqual({ team: 'tech' });
    const resumed = (await logOf(server, run)).find(({ type }) => type === 'run_resumed');
    expect(resumed?.data).toMatchObject({
      agent_digest: (await readRun(server, run)).agent_digest,
    });
  });

  test('an output after an answer is checked like any other (D-567)', async () => {
    const run = await startRun(server, await openSession(server, 'mistaken'), 'go');
    await answer(server, await pendingIn(server, run.session_id), { answer: 'yes' });
    const read = await ended(server, run);
    expect([read.error_code, read.output]).toEqual(['output_invalid', undefined]);
  });
});
