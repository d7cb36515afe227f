import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../support/agents.ts';
import { ended, follow, logOf, readRun, readSession, textOf } from '../support/api-steps.ts';
import type { Identity } from '../support/checked-calls.ts';
import { eventually } from '../support/eventually.ts';
import { addClient, addTenant } from '../support/identities.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';

const names = async (server: TestServer, as = server.client) =>
  (await server.send('list_agents', { as })).body.agents.map(({ name }) => name);

describe('the agents of a tenant (D-56)', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      agents: {
        ...usualAgents,
        known: {
          ...usualAgents.writer,
          description: 'Known well',
          model: 'scripted/1',
          session_files: true,
        },
        keyless: {
          ...usualAgents.echo,
          env: { A_KEY: '${env:NO_SUCH_KEY_OF_KEYLESS}', HOME: '${env:PATH}' },
          mcp_servers: {
            wiki: { url: 'https://wiki.test', headers: { authorization: '${env:NO_SUCH_WIKI}' } },
          },
        },
        broken: 'framework: [',
        // Not YAML either, and for tenants that cannot be read.
        'broken-for-some': 'tenants: { default: disabled }\nframework: [',
        misspelt: { ...usualAgents.echo, on_buzy: 'reject' },
        'other-framework': { framework: 'nothing-we-have' },
      },
    });
  });

  test('are listed by name, with the fields of D-56', async () => {
    const { body } = await server.send('list_agents');
    const listed = body.agents.map(({ name }) => name);
    expect(listed).toEqual(listed.toSorted());
    expect(body.agents.find(({ name }) => name === 'known')).toEqual({
      name: 'known',
      description: 'Known well',
      framework: 'scripted',
      model: 'scripted/1',
      approval_required_tools: ['write_*'],
      session_files_supported: true,
      input_schema: expect.objectContaining({ required: ['prompt'] }),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('an agent names the variables that the server does not have, before it runs (D-340)', async () => {
    const missing_variables = ['NO_SUCH_KEY_OF_KEYLESS', 'NO_SUCH_WIKI'];
    const { body } = await server.send('list_agents');
    const keyless = body.agents.find(({ name }) => name === 'keyless');
    expect(keyless).toMatchObject({ missing_variables });
    // Names only: no value, and nothing about variables that are there.
    expect(JSON.stringify(body)).not.toContain('PATH');
    const shown = await server.send('get_agent', { params: { agent_name: 'keyless' } });
    expect(shown.body).toMatchObject({ missing_variables });
  });

  test('an agent is read with the schema of its input, its tools and skills', async () => {
    const { body } = await server.send('get_agent', { params: { agent_name: 'known' } });
    expect(body).toMatchObject({
      name: 'known',
      tools: ['*'],
      skills: [],
      on_busy: 'queue',
      loaded_at: expect.stringMatching(/Z$/),
      input_schema: {
        required: ['prompt'],
        properties: { prompt: { type: 'string' }, files: { type: 'array' } },
      },
    });
    const { body: plain } = await server.send('get_agent', { params: { agent_name: 'asker' } });
    expect(plain.input_schema).not.toHaveProperty('properties.files');
    const none = await server.refused('get_agent', { params: { agent_name: 'none' } });
    expect(none).toMatchObject({ status: 404, error: 'agent_not_found' });
  });

  test('a broken folder is shown with its reason to those who would see the agent (D-254, D-258)', async () => {
    const listed = await server.send('list_agents', { query: { include: 'broken' } });
    const broken = listed.body.agents.filter(({ problem }) => problem !== undefined);
    expect(broken.map(({ name }) => name)).toEqual(['broken', 'misspelt', 'other-framework']);
    expect(broken[0]?.problem).toMatch(/^agent\.yaml:1:13: /);
    expect(broken[1]?.problem).toContain('on_buzy');
    const { body } = await server.send('get_agent', { params: { agent_name: 'other-framework' } });
    expect(body).toMatchObject({ framework: 'nothing-we-have', problem: expect.any(String) });
    const hidden = { ...usualAgents.echo, on_buzy: 'reject', tenants: { default: 'disabled' } };
    await server.writeAgent('hidden-broken', hidden);
    await server.writeAgent('seen', usualAgents.echo);
    await eventually(async () => (await names(server)).includes('seen'));
    const query = { include: 'broken' };
    const again = (await server.send('list_agents', { query })).body.agents;
    expect(again.map(({ name }) => name)).not.toContain('hidden-broken');
    const none = await server.refused('get_agent', { params: { agent_name: 'hidden-broken' } });
    expect(none).toMatchObject({ status: 404, error: 'agent_not_found' });
    await server.removeAgent('hidden-broken');
    await server.removeAgent('seen');
    await eventually(async () => !(await names(server)).includes('seen'));
  });

  test('a folder without its file, or with another name than an agent can have, is shown too (D-262)', async () => {
    const shown = async (as?: Identity) => {
      const request = { query: { include: 'broken' }, ...(as === undefined ? {} : { as }) };
      const { agents } = (await server.send('list_agents', request)).body;
      return new Map(agents.map(({ name, problem }) => [name, problem]));
    };
    const tenant = await addTenant(server);
    const other = (await addClient(server)).in(tenant);
    const picky = { ...usualAgents.echo, tenants: { default: 'disabled', allow: [tenant] } };
    await server.writeAgent('begun', usualAgents.echo);
    await server.writeAgent('Bad_Name', usualAgents.echo);
    await server.writeAgent('Bad_Picky', picky);
    await server.writeAgent('picky-begun', picky);
    await eventually(async () => (await names(server, other)).includes('picky-begun'));
    for (const name of ['begun', 'picky-begun']) {
      await rm(join(server.config.agentsDir, name, 'agent.yaml'));
    }
    await eventually(async () => (await shown(other)).get('picky-begun')?.includes('is missing'));
    await eventually(async () => (await shown()).get('begun')?.includes('is missing'));
    const listed = await shown();
    expect(listed.get('Bad_Name')).toContain('rename the folder');
    expect([...listed.keys()]).not.toContain('Bad_Picky');
    expect([...listed.keys()]).not.toContain('picky-begun');
    for (const name of ['begun', 'Bad_Name', 'Bad_Picky', 'picky-begun']) {
      await server.removeAgent(name);
    }
    await eventually(async () => !(await shown(other)).has('picky-begun'));
  });

  test('a broken folder is reported and does not affect others', async () => {
    expect(await names(server)).toEqual(
      [...Object.keys(usualAgents), 'keyless', 'known'].toSorted(),
    );
    const problems = server.convoke.agentProblems.map(({ folder }) => folder);
    expect(problems.toSorted()).toEqual([
      'broken',
      'broken-for-some',
      'misspelt',
      'other-framework',
    ]);
    const refused = await server.refused('create_session', { body: { agent_name: 'broken' } });
    expect(refused).toMatchObject({ status: 404, error: 'agent_not_found' });
  });

  test('are enabled per tenant, and a change takes effect on the next request', async () => {
    const tenant = await addTenant(server);
    const as = (await addClient(server)).in(tenant);
    const agent = (tenants: object) => ({ ...usualAgents.echo, tenants: { ...tenants } });
    await server.writeAgent('picky', agent({ default: 'disabled', allow: [tenant] }));
    await eventually(async () => (await names(server, as)).includes('picky'));
    expect(await names(server)).not.toContain('picky');
    const refused = await server.refused('create_session', { body: { agent_name: 'picky' } });
    expect(refused).toMatchObject({ status: 404, error: 'agent_not_found' });
    const misspelt = { body: { agent_name: 'pciky' } };
    const meant = await server.refused('create_session', { as, ...misspelt });
    expect(meant.message).toContain('did you mean "picky"?');
    // To another tenant it is as if there were no such agent.
    expect((await server.refused('create_session', misspelt)).message).toBe(refused.message);
    const { body: session } = await server.send('create_session', {
      as,
      body: { agent_name: 'picky' },
    });
    await server.writeAgent('picky', agent({ default: 'enabled', deny: [tenant] }));
    await eventually(async () => (await names(server)).includes('picky'));
    expect(await names(server, as)).not.toContain('picky');
    for (const [operation, call] of [
      ['create_session', { body: { agent_name: 'picky' } }],
      ['start_run', { params: { session_id: session.id }, body: { input: { prompt: 'x' } } }],
      ['invoke_agent', { params: { agent_name: 'picky' }, body: { input: { prompt: 'x' } } }],
    ] as const) {
      const refused = await server.refused(operation, { as, ...call });
      expect(refused).toMatchObject({ status: 404, error: 'agent_not_found' });
    }
  });

  test('a folder that is fixed, added or removed takes effect without a restart', async () => {
    await server.writeAgent('repaired', 'not: [an agent');
    await server.writeAgent('repaired', usualAgents.echo);
    await eventually(async () => (await names(server)).includes('repaired'));
    await server.removeAgent('repaired');
    await eventually(async () => !(await names(server)).includes('repaired'));
    expect(await names(server)).toContain('echo');
  });
});

describe.each(deployments)('invoke once on %s (D-27)', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    ({ server, puppet } = await startPuppetServer({ database }));
  });

  const invoke = (agent: string, body: object) =>
    server.stream(`/v1/agents/${agent}/runs`, { method: 'POST', body });
  const placeOf = (headers: Headers) => ({
    id: headers.get('x-run-id') ?? '',
    session_id: headers.get('x-session-id') ?? '',
  });

  test('streams the run of a new session, and names both in headers', async () => {
    const reader = await invoke('echo', { input: { prompt: 'hi' } });
    const frames = await reader.all();
    expect(textOf(frames.map(({ data }) => data))).toBe('hi (run 1)');
    const run = placeOf(reader.headers);
    expect(reader.headers.get('location')).toBe(
      `/v1/sessions/${run.session_id}/runs/${run.id}/events`,
    );
    expect(reader.headers.has('idempotency-replayed')).toBe(false);
    expect(await readRun(server, run)).toMatchObject({ status: 'completed' });
    expect(await readSession(server, run.session_id)).toMatchObject({
      agent_name: 'echo',
      status: 'idle',
    });
    // The same frames as the events endpoint.
    const again = await (await follow(server, run)).all();
    expect(again.map(({ text }) => text)).toEqual(frames.map(({ text }) => text));
  });

  test('a replayed key streams the same run again from its start', async () => {
    const body = { input: { prompt: 'once' }, idempotency_key: 'invoke-once' };
    const first = await invoke('echo', body);
    const frames = await first.all();
    const again = await invoke('echo', body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(placeOf(again.headers)).toEqual(placeOf(first.headers));
    expect((await again.all()).map(({ text }) => text)).toEqual(frames.map(({ text }) => text));
    for (const [agent_name, input] of [
      ['echo', { prompt: 'other' }],
      ['failing', { prompt: 'once' }],
    ] as const) {
      const refused = await server.refused('invoke_agent', {
        params: { agent_name },
        body: { ...body, input },
      });
      expect(refused).toMatchObject({ status: 409, error: 'idempotency_conflict' });
    }
  });

  test('a replay joins a run that is still running, and does not start another', async () => {
    const body = { input: { prompt: 'x' }, idempotency_key: 'invoke-long' };
    const first = await invoke('puppet', body);
    const leg = await puppet.leg();
    const second = await invoke('puppet', body);
    leg.say('for both');
    leg.end();
    const texts = (await first.all()).map(({ text }) => text);
    expect((await second.all()).map(({ text }) => text)).toEqual(texts);
  });

  test('a reader that disconnects does not cancel the run', async () => {
    const reader = await invoke('puppet', { input: { prompt: 'x' } });
    const leg = await puppet.leg();
    await reader.until('run_started');
    const run = placeOf(reader.headers);
    reader.close();
    leg.say('to nobody');
    leg.end();
    expect(await ended(server, run)).toMatchObject({
      status: 'completed',
      output_text: 'to nobody',
    });
  });

  test('a refused call leaves no session and no key behind', async () => {
    const count = async () => (await server.send('list_sessions')).body.sessions.length;
    const before = await count();
    const call = (agent_name: string, input: object) =>
      server.refused('invoke_agent', {
        params: { agent_name },
        body: { input, idempotency_key: 'invoke-wrong' },
      });
    expect(await call('nobody', { prompt: 'x' })).toMatchObject({
      status: 404,
      error: 'agent_not_found',
    });
    expect(await call('Not-A-Name', { prompt: 'x' })).toMatchObject({
      status: 404,
      error: 'agent_not_found',
    });
    expect(await call('echo', {})).toMatchObject({ status: 400, error: 'invalid_body' });
    expect(await call('echo', { prompt: 'x', speed: 1 })).toMatchObject({
      status: 400,
      error: 'unknown_field',
    });
    // A new session has no files, so none can be ready.
    expect(await call('echo', { prompt: 'x', files: ['file_x'] })).toMatchObject({
      status: 409,
      error: 'file_not_ready',
    });
    expect(await count()).toBe(before);
    const right = await invoke('echo', {
      input: { prompt: 'x' },
      idempotency_key: 'invoke-wrong',
    });
    await right.all();
    expect((await logOf(server, placeOf(right.headers))).at(-1)?.type).toBe('run_completed');
  });
});
