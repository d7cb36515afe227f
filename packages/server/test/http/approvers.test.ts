import {
  type InteractionRecord,
  type JsonObject,
  type OrganizationRule,
  organizationId,
} from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AgentYaml } from '../support/agents.ts';
import { answer, begin, ended, keyOf, logOf, pendingIn, runIn } from '../support/api-steps.ts';
import type { Identity } from '../support/checked-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { addClient } from '../support/identities.ts';
import { type TestServer, bearer, startServer } from '../support/server.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

const writes = (approvers?: JsonObject): AgentYaml => ({
  description: 'Writes a note when it may',
  rules: [
    {
      name: 'notes',
      tools: ['write_file'],
      effect: 'ask',
      reason: 'Notes are public.',
      ...(approvers && { approvers }),
    },
  ],
  script: [{ tool: { name: 'write_file', input: { path: 'note.txt', text: '{{prompt}}' } } }],
});

const agents = {
  anyone: writes(),
  people: writes({}),
  admins: writes({ role: 'admin' }),
  owners: writes({ role: 'owner' }),
  clients: writes({ clients: true }),
  pages: writes({ role: 'admin', end_users: true }),
  others: writes({ not_starter: true, clients: true }),
  two: writes({ role: 'admin', people: 2 }),
};
type AgentName = keyof typeof agents;

const allow = { decision: 'allow' };

describe.each(databaseKinds)('who may allow a call on %s (D-512)', (database) => {
  let server: TestServer;
  let callers: Record<'owner' | 'admin' | 'operator' | 'viewer' | 'other', Identity>;
  beforeAll(async () => {
    server = await startServer({ database, agents });
    const person = async (role: 'owner' | 'admin' | 'operator' | 'viewer') =>
      asPerson(server, await addMember(server, role));
    const other = (await addClient(server)).in(server.quickstart.tenant_id);
    callers = {
      owner: await person('owner'),
      admin: await person('admin'),
      operator: await person('operator'),
      viewer: await person('viewer'),
      other,
    };
  });

  async function asked(agent: AgentName) {
    const { run } = await begin(server, agent);
    return { run, request: await pendingIn(server, run.session_id) };
  }
  const pageOf = async (request: InteractionRecord): Promise<Identity> => {
    const params = { session_id: request.session_id };
    const { body } = await server.send('create_session_token', { params, body: {} });
    return bearer(body.token);
  };
  const shown = async ({ session_id }: InteractionRecord, as: Identity = server.client) => {
    const query = { status: 'all' };
    const { body } = await server.send('list_interactions', { as, params: { session_id }, query });
    return body.interactions[0] ?? expect.fail('no interaction');
  };
  const found = async ({ interaction_key }: InteractionRecord, as: Identity = server.client) =>
    (await server.send('find_interaction', { as, params: { interaction_key } })).body;
  const allows = async (request: InteractionRecord, as: Identity, body: object = allow) =>
    (await server.send('answer_interaction', { as, params: keyOf(request), body })).body;
  const refused = (request: InteractionRecord, as: Identity, body: object = allow) =>
    server.refused('answer_interaction', { as, params: keyOf(request), body });
  const send = (request: InteractionRecord, as: Identity, body: object = allow) => {
    const { session_id, interaction_key } = keyOf(request);
    const path = `/v1/sessions/${session_id}/interactions/${interaction_key}/answer`;
    return server.call('POST', path, { as, body });
  };
  const anotherAdmin = async () => {
    const id = await addMember(server, 'admin');
    return { id, as: await asPerson(server, id) };
  };

  async function organizationHas(...rules: readonly OrganizationRule[]) {
    const params = { organization_id: server.quickstart.organization_id };
    const as = server.owner;
    const { version } = (await server.send('get_rules', { as, params })).body;
    await server.send('set_rules', { as, params, body: { version, rules } });
  }
  const ofOrganization = (change: Partial<OrganizationRule> = {}): OrganizationRule => ({
    name: 'all-notes',
    tools: ['write_file'],
    effect: 'ask',
    ...change,
  });
  beforeEach(() => organizationHas());

  test.each<[AgentName, readonly string[], string]>([
    ['anyone', ['starter', 'other', 'page', 'operator', 'admin', 'owner'], ''],
    ['people', ['operator', 'admin', 'owner'], 'a person'],
    ['admins', ['admin', 'owner'], 'a person who is admin or owner'],
    ['owners', ['owner'], 'a person who is owner'],
    [
      'clients',
      ['starter', 'other', 'operator', 'admin', 'owner'],
      'an automation client or a person',
    ],
    ['pages', ['page', 'admin', 'owner'], 'an end user or a person who is admin or owner'],
    [
      'others',
      ['other', 'operator', 'admin', 'owner'],
      'an automation client or a person who did not start the run',
    ],
  ])('of the agent %s: %j', async (agent, able, needed) => {
    const { request, run } = await asked(agent);
    const all = { ...callers, starter: server.client, page: await pageOf(request) };
    for (const [name, as] of Object.entries(all)) {
      const may = able.includes(name);
      expect([name, (await shown(request, as)).can_allow]).toEqual([name, may]);
      if (name !== 'page')
        expect([name, (await found(request, as)).can_allow]).toEqual([name, may]);
      if (may || name === 'viewer') continue;
      expect(await refused(request, as)).toMatchObject({
        status: 403,
        error: 'not_an_approver',
        message: `Allowing this needs ${needed}.`,
      });
    }
    const last = able.at(-1) as keyof typeof all;
    expect(await allows(request, all[last])).toMatchObject({ status: 'answered', ...allow });
    expect((await shown(request)).can_allow).toBeUndefined();
    expect(await ended(server, run)).toMatchObject({ status: 'completed' });
  });

  test('is in the request, in its event, and restricts no denial (D-514)', async () => {
    const { request, run } = await asked('admins');
    const approvers = {
      role: 'admin',
      people: 1,
      not_starter: false,
      clients: false,
      end_users: false,
    };
    const rules = [{ source: 'agent', name: 'notes', reason: 'Notes are public.' }];
    expect(request).toMatchObject({ approvers, rules, can_allow: false });
    await answer(server, request, { decision: 'deny' });
    const log = await logOf(server, run);
    expect(log.find(({ type }) => type === 'permission_request')?.data).toMatchObject({
      approvers,
      rules,
    });
    const open = await asked('anyone');
    expect(open.request).not.toHaveProperty('approvers');
    await answer(server, open.request, { decision: 'deny' });
  });

  test('the starter of a scheduled run is its author (D-513)', async () => {
    const author = await addMember(server, 'operator');
    const as = await asPerson(server, author);
    const { body: schedule } = await server.send('create_schedule', {
      as,
      headers: { 'idempotency-key': 'schedule-of-a-person' },
      body: {
        name: 'Notes',
        agent_name: 'others',
        input: { prompt: 'hi' },
        cron: '0 0 1 1 *',
        time_zone: 'UTC',
      },
    });
    const { body: run } = await server.send('run_schedule', {
      as,
      params: { schedule_id: schedule.id },
      headers: { 'idempotency-key': 'run-of-a-schedule' },
    });
    expect(run.created_by).toMatchObject({ kind: 'person', id: author });
    const request = await pendingIn(server, run.session_id);
    expect(await refused(request, as)).toMatchObject({ error: 'not_an_approver' });
    await allows(request, callers.operator);
    await ended(server, run);
  });

  test('two people: the first approval leaves the request pending, the second one allows (D-516)', async () => {
    const { request, run } = await asked('two');
    const second = await anotherAdmin();
    expect(request).toMatchObject({ approvers: { people: 2 }, can_allow: false });
    expect((await found(request, callers.admin)).can_allow).toBe(true);
    const first = await allows(request, callers.admin);
    expect(first).toMatchObject({ status: 'pending', can_allow: false });
    expect(first.approvals).toMatchObject([
      { by_name: expect.any(String), at: expect.any(String) },
    ]);
    // In another tab: one person counts once.
    expect(await allows(request, callers.admin)).toEqual(first);
    expect((await found(request, second.as)).can_allow).toBe(true);
    expect((await shown(request, await pageOf(request))).approvals?.[0]).not.toHaveProperty(
      'by_name',
    );
    const done = await allows(request, second.as);
    expect(done).toMatchObject({ status: 'answered', answered_by: second.id, ...allow });
    expect(done.approvals?.map(({ by }) => by)).toEqual([first.approvals?.[0]?.by, second.id]);
    expect(await allows(request, callers.admin)).toMatchObject({ status: 'answered' });
    const log = await logOf(server, run);
    const types = log.map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('permission_'))).toEqual([
      'permission_request',
      'permission_approved',
      'permission_resolved',
    ]);
    const approved = { interaction_key: request.interaction_key, approvals: 1, needed: 2 };
    expect(log.find(({ type }) => type === 'permission_approved')?.data).toEqual(approved);
    const told = async () => {
      const { body: feed } = await server.send('follow_tenant_events', {
        query: { types: 'interaction_approved', limit: '100' },
        headers: { accept: 'application/json' },
      });
      return feed.events.filter(({ run_id }) => run_id === run.id);
    };
    // The feed gets a notice after the commit that it tells of.
    const { interaction_key } = request;
    const data = { interaction_key, kind: 'permission', status: 'waiting' };
    await expect.poll(told).toMatchObject([{ data }]);
    const params = { organization_id: server.quickstart.organization_id };
    const audited = async (action: string) =>
      (
        await server.send('list_audit', { as: server.owner, params, query: { action } })
      ).body.rows.filter(({ object }) => object === request.interaction_key);
    expect(await audited('interaction.approve')).toMatchObject([
      { details: { needed: 2, rules: [{ source: 'agent', name: 'notes' }] } },
    ]);
    expect(await audited('interaction.answer')).toMatchObject([
      { details: { approved_by: [first.approvals?.[0]?.by, second.id] } },
    ]);
  });

  test('one of two who loses the role, or leaves, no longer counts (D-516)', async () => {
    const { request, run } = await asked('two');
    const { store, clock } = server.convoke.services;
    const organization = organizationId(server.quickstart.organization_id);
    const [demoted, removed] = [await anotherAdmin(), await anotherAdmin()];
    const left = await anotherAdmin();
    const membership = { organizationId: organization, createdAt: clock.now() };
    await allows(request, demoted.as);
    await store.transaction((tx) =>
      tx.organizations.saveRole({ ...membership, userId: demoted.id, role: 'operator' }),
    );
    expect(await allows(request, removed.as)).toMatchObject({
      status: 'pending',
      approvals: [{ by: removed.id }],
    });
    await store.transaction((tx) =>
      tx.organizations.deleteMembership({ ...membership, userId: removed.id, role: 'admin' }),
    );
    expect(await allows(request, left.as)).toMatchObject({
      status: 'pending',
      approvals: [{ by: left.id }],
    });
    expect(await refused(request, demoted.as)).toMatchObject({ error: 'not_an_approver' });
    expect(await allows(request, callers.admin)).toMatchObject({ status: 'answered' });
    await ended(server, run);
  });

  test('of several approvals and a denial at once, exactly one outcome is recorded', async () => {
    const { request, run } = await asked('two');
    const people = [callers.admin, callers.owner, (await anotherAdmin()).as];
    const bodies = [allow, allow, { decision: 'deny' }];
    const answers = await Promise.all(people.map((as, at) => send(request, as, bodies[at])));
    for (const { status } of answers) expect([200, 409]).toContain(status);
    const last = await shown(request);
    expect(last.status).toBe('answered');
    if (last.decision === 'allow') expect(last.approvals).toHaveLength(2);
    const types = (await logOf(server, run)).map(({ type }) => type);
    expect(types.filter((type) => type === 'permission_resolved')).toHaveLength(1);
    await ended(server, run);
  });

  test('two approvals at once allow, and one person in two tabs does not', async () => {
    const { request, run } = await asked('two');
    await Promise.all([send(request, callers.admin), send(request, callers.admin)]);
    expect(await shown(request)).toMatchObject({ status: 'pending', approvals: [{}] });
    await Promise.all([send(request, callers.owner), send(request, callers.admin)]);
    expect(await shown(request)).toMatchObject({ status: 'answered', approvals: [{}, {}] });
    const types = (await logOf(server, run)).map(({ type }) => type);
    expect(types.filter((type) => type === 'permission_approved')).toHaveLength(1);
  });

  test('an answer is judged by the current rules (D-515)', async () => {
    const { request, run } = await asked('anyone');
    await organizationHas(ofOrganization({ approvers: { role: 'owner' } }));
    expect((await shown(request)).can_allow).toBe(true);
    expect(await found(request)).toMatchObject({
      can_allow: false,
      approvers: { role: 'owner' },
      rules: [
        { source: 'organization', name: 'all-notes' },
        { source: 'agent', name: 'notes' },
      ],
    });
    expect(await refused(request, callers.admin)).toMatchObject({ error: 'not_an_approver' });
    await organizationHas(ofOrganization({ effect: 'deny', reason: 'Not this week' }));
    expect((await found(request, callers.owner)).can_allow).toBe(false);
    expect(await refused(request, callers.owner)).toMatchObject({
      status: 409,
      error: 'denied_by_rule',
      message:
        'Not allowed by the rule all-notes of the organization: Not this week. The request can only be denied.',
    });
    await runIn(server, run, 'waiting');
    await organizationHas();
    expect((await found(request)).can_allow).toBe(true);
    await allows(request, server.client);
    expect(await ended(server, run)).toMatchObject({ status: 'completed' });
  });

  test('a change of the rules frees a request whose approvers are gone (D-515)', async () => {
    await organizationHas(ofOrganization({ approvers: { people: 5 } }));
    const { request, run } = await asked('anyone');
    expect(await allows(request, callers.operator)).toMatchObject({ status: 'pending' });
    await organizationHas(ofOrganization({ approvers: {} }));
    // The one who has allowed it already is enough now.
    expect(await allows(request, callers.operator)).toMatchObject({ status: 'answered' });
    await ended(server, run);
  });

  test('an answer beside a change of the document is judged by one of the two', async () => {
    const { request, run } = await asked('anyone');
    const [{ status }] = await Promise.all([
      send(request, server.client),
      organizationHas(ofOrganization({ effect: 'deny' })),
    ]);
    expect([200, 409]).toContain(status);
    if (status === 409) await answer(server, request, { decision: 'deny' });
    // Allowed or not by then, the denial wins when the call begins.
    expect(await ended(server, run)).toMatchObject({ status: 'completed' });
  });

  test('a replaced input is decided like a new call (D-518)', async () => {
    const note = (text: string) => ({ ...allow, updated_input: { path: 'note.txt', text } });
    const about = (text: string) => ({ when: [{ path: '/text', eq: text }] });
    await organizationHas(
      ofOrganization({ name: 'never', ...about('never'), effect: 'deny' }),
      ofOrganization({ name: 'owners', ...about('owners'), approvers: { role: 'owner' } }),
      ofOrganization({ name: 'two', ...about('two'), approvers: { people: 2 } }),
    );
    const { request, run } = await asked('anyone');
    const { admin, owner } = callers;
    expect(await refused(request, owner, note('never'))).toMatchObject({ error: 'denied_by_rule' });
    expect(await refused(request, admin, note('owners'))).toMatchObject({
      error: 'not_an_approver',
    });
    expect(await refused(request, owner, note('two'))).toMatchObject({ error: 'not_an_approver' });
    expect(await shown(request)).toMatchObject({ status: 'pending' });
    expect(await allows(request, owner, note('owners'))).toMatchObject({ status: 'answered' });
    expect(await ended(server, run)).toMatchObject({ status: 'completed' });
    const both = await asked('two');
    expect(await refused(both.request, admin, note('hello'))).toMatchObject({
      status: 400,
      error: 'invalid_answer',
      message: expect.stringContaining('each of them has to see what runs'),
    });
    await answer(server, both.request, { decision: 'deny' });
  });

  test('a list has what its reader may allow, and nothing that waits for others', async () => {
    const listed = async (as: Identity, query: Record<string, string> = { can_allow: 'true' }) =>
      (await server.send('list_tenant_interactions', { as, query })).body.interactions;
    const two = await asked('two');
    const open = await asked('anyone');
    const keys = async (as: Identity) => {
      const mine = [two.request.interaction_key, open.request.interaction_key];
      const all = (await listed(as)).map(({ interaction_key }) => interaction_key);
      return mine.map((key) => all.includes(key));
    };
    expect(await keys(callers.admin)).toEqual([true, true]);
    expect(await keys(callers.operator)).toEqual([false, true]);
    expect(await keys(server.client)).toEqual([false, true]);
    expect(await keys(callers.viewer)).toEqual([false, false]);
    await allows(two.request, callers.admin);
    expect(await keys(callers.admin)).toEqual([false, true]);
    const rows = await listed(callers.owner, {});
    expect(
      rows.find(({ interaction_key }) => interaction_key === two.request.interaction_key),
    ).toMatchObject({
      can_allow: true,
      rules: [{ source: 'agent', name: 'notes' }],
      approvers: { people: 2 },
      approvals: [{ by_name: expect.any(String) }],
    });
    for (const { request } of [two, open]) await answer(server, request, { decision: 'deny' });
  });
});
