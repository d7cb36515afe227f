import { type UserId, organizationId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/app/audit.ts';
import type { Role } from '../../../src/domain/member.ts';
import { addMember as changeRole, removeMember } from '../../../src/app/organizations.ts';
import { signOutEverywhere } from '../../../src/app/people/passwords.ts';
import { at, eventsPath, keyOf } from '../../support/api-steps.ts';
import type { Identity } from '../../support/checked-calls.ts';
import { MovingClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { addTenant } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import {
  addMember,
  asPerson,
  emailOf,
  exchange,
  signInToken,
} from '../../support/sign-in/console.ts';
import { operator } from '../../support/sign-in/steps.ts';

/** What a person in a tenant may do, and when they no longer may (D-154, D-155). */
describe.each(databaseKinds)('a person in a tenant, on %s', (database) => {
  const clock = new MovingClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, clock });
  });

  const membership = (person: UserId) => ({
    organizationId: organizationId(server.quickstart.organization_id),
    email: emailOf(person),
    by: operator,
  });
  const setRole = (person: UserId, role: 'viewer' | 'operator' | 'member') =>
    changeRole(server.convoke.services, { ...membership(person), role });

  async function startRun(as: Identity, agent_name: string) {
    const { body: session } = await server.send('create_session', { as, body: { agent_name } });
    const params = { session_id: session.id };
    return (await server.send('start_run', { as, params, body: { input: { prompt: 'hi' } } })).body;
  }

  /** Moves the clock in steps of a pulse until the reader's stream is over. */
  async function pulsesUntilOver(reader: { all(): Promise<unknown> }): Promise<number> {
    let isOver = false;
    void reader.all().then(() => (isOver = true));
    let pulses = 0;
    await eventually(async () => {
      if (isOver) return true;
      // Further pulses only give the recheck, which reads the database, time to come back.
      clock.advance(5_000);
      pulses += 1;
      return isOver;
    });
    return pulses;
  }

  test('an operator runs agents and answers them; a viewer reads and does nothing else (D-153)', async () => {
    const as = await asPerson(server, await addMember(server, 'operator'));
    const run = await startRun(as, 'asker');
    const viewer = await asPerson(server, await addMember(server, 'viewer'));
    expect((await server.send('get_run', { as: viewer, params: at(run) })).body.id).toBe(run.id);
    for (const call of [
      { id: 'create_session', body: { agent_name: 'echo' } },
      { id: 'start_run', params: at(run), body: { input: { prompt: 'x' } } },
      { id: 'cancel_run', params: at(run) },
    ] as const) {
      const { id, ...sent } = call;
      const refused = await server.refused(id, { as: viewer, ...sent });
      expect(refused).toMatchObject({ status: 403, error: 'insufficient_scope' });
    }
  });

  test('an answer names the person, in the record and in the audit (D-155)', async () => {
    const person = await addMember(server, 'operator');
    const as = await asPerson(server, person);
    const run = await startRun(as, 'asker');
    const params = { session_id: run.session_id };
    const asked = await eventually(
      async () => (await server.send('list_interactions', { as, params })).body.interactions[0],
    );
    const body = { answer: 'red' };
    const answered = await server.send('answer_interaction', { as, params: keyOf(asked), body });
    const by = { answered_by: person, answered_by_name: emailOf(person) };
    expect(answered.body).toMatchObject({ status: 'answered', ...by });
    const listed = await server.send('list_tenant_interactions', { as, query: { status: 'all' } });
    const row = listed.body.interactions.find(
      ({ interaction_key: key }) => key === asked.interaction_key,
    );
    expect(row).toMatchObject(by);
    const { store } = server.convoke.services;
    const chain = organizationId(server.quickstart.organization_id);
    const rows = await listAudit({ store }, { chain, limit: 20 });
    expect(rows.find(({ object }) => object === asked.interaction_key)).toMatchObject({
      action: 'interaction.answer',
      by: { kind: 'user', id: person },
    });
  });

  test('runs and sessions name who made and who cancelled them (D-155)', async () => {
    const person = await addMember(server, 'operator');
    const as = await asPerson(server, person);
    const mine = { kind: 'person', id: person, name: emailOf(person) };
    const run = await startRun(as, 'sleeper');
    const params = { session_id: run.session_id };
    const body = { input: { prompt: 'next' } };
    const queued = (await server.send('start_run', { params, body })).body;
    const { subject: id } = (await server.send('whoami')).body;
    const machine = { kind: 'client', id, name: 'Quickstart' };
    const { body: session } = await server.send('get_session', { as, params });
    expect([run.created_by, session.created_by, queued.created_by]).toEqual([mine, mine, machine]);
    expect([run.cancelled_by, queued.cancelled_by]).toEqual([undefined, undefined]);
    const cancelled = await server.send('cancel_run', { as, params: at(queued) });
    expect(cancelled.body).toMatchObject({ status: 'cancelled', cancelled_by: mine });
    await server.send('stop_session', { params, body: { mode: 'terminate' } });
    const read = async () => (await server.send('get_run', { as, params: at(run) })).body;
    const ended = await eventually(async () => {
      const now = await read();
      return now.status === 'cancelled' && now;
    });
    expect(ended.cancelled_by).toEqual(machine);
  });

  test('both selectors must be those of the token; any other looks like none (D-154)', async () => {
    const as = await asPerson(server, await addMember(server, 'owner'));
    const second = await addTenant(server, 'Second');
    const say = async (change: Identity) => {
      const { status, text } = await server.call('GET', '/v1/agents', { as: { ...as, ...change } });
      return `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`;
    };
    const refused = await say({ 'x-workspace-tenant-id': 'ten_never' });
    expect(refused).toMatch(/^403 \{"error":"forbidden"/);
    expect(await say({ 'x-workspace-tenant-id': second })).toBe(refused);
    expect(await say({ 'x-organization-id': 'org_never' })).toBe(refused);
  });

  test('a removed member loses access at the next request, and open streams within 15 s (D-154)', async () => {
    const person = await addMember(server, 'operator');
    const as = await asPerson(server, person);
    const run = await startRun(as, 'sleeper');
    const reader = await server.stream(eventsPath(run), { as });
    await reader.until('message_delta');
    expect((await server.send('whoami', { as })).status).toBe(200);
    await removeMember(server.convoke.services, membership(person));
    expect(await server.refused('whoami', { as })).toMatchObject({ status: 403 });
    await pulsesUntilOver(reader);
    expect(reader.types()).toEqual(['run_started', 'message_delta']);
    await server.send('cancel_run', { params: at(run) });
  });

  test('a changed role takes effect at the next request, also to the worse (D-154)', async () => {
    const person = await addMember(server, 'operator');
    const as = await asPerson(server, person);
    const create = async () =>
      (await server.call('POST', '/v1/sessions', { as, body: { agent_name: 'echo' } })).status;
    expect(await create()).toBe(201);
    await setRole(person, 'viewer');
    expect(await create()).toBe(403);
    expect((await server.send('whoami', { as })).body).toMatchObject({ role: 'viewer' });
    await setRole(person, 'member');
    expect(await server.refused('whoami', { as })).toMatchObject({ status: 403 });
    await setRole(person, 'operator');
    expect(await create()).toBe(201);
  });

  test('what an owner does to a member ends their open streams at once, without a pulse (D-791)', async () => {
    const { owner: as } = server;
    const params = (person: UserId) => ({
      organization_id: server.quickstart.organization_id,
      user_id: person,
    });
    const becomes = (role: Role) => (person: UserId) =>
      server.send('update_member', { as, params: params(person), body: { role } });
    const acts: readonly (readonly [Role, (person: UserId) => Promise<unknown>])[] = [
      ['operator', becomes('viewer')],
      // Their scopes are the same, but not what rules let them allow.
      ['admin', becomes('operator')],
      ['operator', (person) => server.send('remove_member', { as, params: params(person) })],
      ['operator', (person) => server.send('sign_out_member', { as, params: params(person) })],
    ];
    const run = await startRun(
      await asPerson(server, await addMember(server, 'operator')),
      'sleeper',
    );
    for (const [role, act] of acts) {
      const person = await addMember(server, role);
      const reader = await server.stream(eventsPath(run), { as: await asPerson(server, person) });
      await reader.until('message_delta');
      clock.advance(5);
      await act(person);
      // The clock stands still, so only a wake-up can end it.
      await reader.all();
      expect(reader.types()).toEqual(['run_started', 'message_delta']);
    }
    await server.send('cancel_run', { params: at(run) });
  });

  test('signing out everywhere ends tokens and streams; signing in again works (D-154)', async () => {
    const person = await addMember(server, 'operator');
    const signIn = await signInToken(server, person);
    const as = await asPerson(server, person);
    const run = await startRun(as, 'sleeper');
    const reader = await server.stream(eventsPath(run), { as });
    await reader.until('message_delta');
    clock.advance(5);
    await signOutEverywhere(server.convoke.services, { userId: person, by: operator });
    expect(await server.refused('whoami', { as })).toMatchObject({ status: 401 });
    expect(await server.refused('list_workspaces', { as })).toMatchObject({ status: 401 });
    await expect(exchange(server, signIn)).rejects.toThrow('subject_token is not a valid token');
    await pulsesUntilOver(reader);
    clock.advance(5);
    const again = await asPerson(server, person);
    expect((await server.send('whoami', { as: again })).status).toBe(200);
    await server.send('cancel_run', { params: at(run) });
  });

  test('a stream ends with its token and continues with the next one, without a lost event (D-150)', async () => {
    const person = await addMember(server, 'operator');
    const as = await asPerson(server, person);
    const run = await startRun(as, 'asker');
    const first = await server.stream(eventsPath(run), { as });
    const { id } = await first.until('user_question');
    clock.advance(601_000);
    await first.all();
    expect(await server.refused('whoami', { as })).toMatchObject({ status: 401 });
    const renewed = await asPerson(server, person);
    const params = { session_id: run.session_id };
    const [asked] = (await server.send('list_interactions', { as: renewed, params })).body
      .interactions;
    const key = { ...params, interaction_key: asked?.interaction_key ?? '' };
    await server.send('answer_interaction', { as: renewed, params: key, body: { answer: 'red' } });
    const next = await server.stream(eventsPath(run), {
      as: renewed,
      headers: { 'last-event-id': id },
    });
    await next.until('run_completed');
    const seen = [...first.frames, ...next.frames].map((frame) => Number(frame.id));
    expect(seen).toEqual(seen.map((_, index) => index + 1));
  });
});
