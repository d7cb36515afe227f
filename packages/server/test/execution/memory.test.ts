import { type OrganizationRule, agentRules } from '@convoke/contract';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answerInteraction, listInteractions } from '../../src/app/interactions.ts';
import { forgetAllow } from '../../src/app/rules/forget.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Allower } from '../../src/domain/rules/approvers.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { legRules } from '../../src/execution/recording/decide-calls.ts';
import type { NewCall } from '../../src/ports/harness.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { openLedger } from '../support/leg-ledgers.ts';
import { setOrganizationRules } from '../support/organization-rules.ts';
import { type RunFixture, createRunFixture, over } from '../support/run-fixture.ts';

const rules = agentRules.parse([
  { name: 'pay', tools: ['pay'], effect: 'ask', remember: 'tool' },
  { name: 'mail', tools: ['mail'], effect: 'ask', remember: 'exact' },
  { name: 'drop', tools: ['drop'], effect: 'ask' },
]);

describe.each(databaseKinds)('an allow that a session remembers on %s (D-521)', (kind) => {
  let world: RunFixture;
  let leg: ClaimedLeg;
  beforeAll(async () => {
    world = await createRunFixture(kind, { rules: readRules(rules) });
  });
  beforeEach(async () => {
    leg = await world.claimed(await world.start(await world.open()));
  });
  afterEach(() => organizationHas());

  const organizationHas = (...list: readonly Partial<OrganizationRule>[]) =>
    setOrganizationRules(world, list);
  const onLeg = (of: ClaimedLeg) =>
    openLedger(world, of, { rules: legRules(world.agents.find('agent'), of.run.createdBy) });
  const call = (toolName: string, input: Json = { n: 1 }, ref = 'call'): NewCall => ({
    ref,
    toolName,
    input,
    touches: 'outside',
  });
  const begins = async (toolName: string, input?: Json, ref?: string) =>
    (await onLeg(leg).ledger.begin(call(toolName, input, ref))).kind;
  async function ask(toolName: string, input: Json, ref: string) {
    const { writer } = onLeg(leg);
    await writer.push({ type: 'permission_request', ref, toolName, toolInput: input });
    await writer.close();
    leg = { ...leg, run: await world.read(leg.run) };
    const found = await world.store.read.interactions.findByRequest(leg.run.id, ref);
    return found ?? expect.fail('nothing was asked');
  }
  const answer = async (key: string, body: object, who: Allower = allower) =>
    answerInteraction(world, world.scope, {
      sessionId: leg.run.sessionId,
      key: key as never,
      body: { decision: 'allow', ...body },
      by: { ...by, id: who.id },
      allower: who,
    });
  async function remember(toolName: string, width: 'exact' | 'tool', input: Json = { n: 1 }) {
    const { key } = await ask(toolName, input, `asked-${toolName}`);
    const answered = await answer(key, { remember: width });
    expect(answered).toMatchObject({ status: 'answered', remembered: width });
    leg = { ...leg, run: await world.read(leg.run) };
    // The allow itself is for this one.
    expect(await begins(toolName, input, `asked-${toolName}`)).toBe('begun');
    leg = { ...leg, run: await world.read(leg.run) };
    return key;
  }
  const nextRun = async () => {
    await world.record(leg, { end: { status: 'completed', ...over } });
    leg = await world.claimed(await world.start(leg.run.sessionId));
  };
  const logged = async () =>
    (await world.logOf(leg.run.id)).map(({ type, data }) => ({ type, data }));

  test('of exactly this input allows the same call again, also in a later run, and no other', async () => {
    const key = await remember('mail', 'exact', { to: 'a', body: 'b' });
    const answered = (await logged()).find(({ type }) => type === 'permission_resolved');
    expect(answered?.data).toMatchObject({ decision: 'allow', remembered: 'exact' });
    const answers = await world.store.read.audit.newest(world.scope.organizationId, 10);
    expect(
      answers.find(({ object, action }) => object === key && action === 'interaction.answer'),
    ).toMatchObject({
      details: { remembered: 'exact', rules: [{ source: 'agent', name: 'mail' }] },
    });
    await nextRun();
    expect(await begins('mail', { body: 'b', to: 'a' }, 'one')).toBe('begun');
    expect((await logged()).at(-1)).toMatchObject({
      type: 'call_decided',
      data: {
        tool_name: 'mail',
        effect: 'allow',
        by: 'memory',
        interaction_key: key,
        rules: [{ source: 'agent', name: 'mail' }],
      },
    });
    const rows = await world.store.read.audit.newest(world.scope.organizationId, 10);
    expect(rows[0]).toMatchObject({ action: 'call.allow', object: key, details: { by: 'memory' } });
    leg = { ...leg, run: await world.read(leg.run) };
    expect(await begins('mail', { to: 'a', body: 'c' }, 'two')).toBe('ask');
    expect(await begins('pay', { to: 'a', body: 'b' }, 'three')).toBe('ask');
  });

  test('of a tool allows each of its inputs, in this session only', async () => {
    await remember('pay', 'tool');
    expect(await begins('pay', { n: 2 }, 'two')).toBe('begun');
    leg = await world.claimed(await world.start(await world.open()));
    expect(await begins('pay', { n: 1 }, 'other')).toBe('ask');
  });

  test('is as wide as the rules permit, and never of a denial', async () => {
    const drop = await ask('drop', { n: 1 }, 'd');
    await expect(answer(drop.key, { remember: 'exact' })).rejects.toMatchObject({
      code: 'invalid_answer',
    });
    const mail = await ask('mail', { n: 1 }, 'm');
    await expect(answer(mail.key, { remember: 'tool' })).rejects.toMatchObject({
      code: 'invalid_answer',
    });
    await expect(answer(mail.key, { decision: 'deny', remember: 'exact' })).rejects.toMatchObject({
      code: 'invalid_answer',
    });
    const large = await ask('mail', { text: 'x'.repeat(17_000) }, 'l');
    await expect(answer(large.key, { remember: 'exact' })).rejects.toMatchObject({
      code: 'invalid_answer',
      message: expect.stringContaining('16384 characters'),
    });
  });

  test('ends with one request, which may be repeated', async () => {
    const key = await remember('pay', 'tool');
    const { sessionId } = leg.run;
    const page = { limit: 10, order: 'asc' } as const;
    const listed = async () => {
      const wanted = { sessionId, status: 'answered', isRemembered: true, page } as const;
      return (await listInteractions(world, world.scope, wanted)).items.map((item) => item.key);
    };
    expect(await listed()).toEqual([key]);
    for (const _ of [1, 2]) await forgetAllow(world, world.scope, { sessionId, key, by });
    expect(await listed()).toEqual([]);
    expect(await begins('pay', { n: 2 }, 'two')).toBe('ask');
    const rows = await world.store.read.audit.newest(world.scope.organizationId, 100);
    const forgotten = rows.filter(
      ({ action, object }) => action === 'interaction.forget' && object === key,
    );
    expect(forgotten).toHaveLength(1);
    // The same answer again does not bring it back.
    expect(await answer(key, { remember: 'tool' })).not.toHaveProperty('remembered');
  });

  test('does not survive a stricter rule, and never touches a denial', async () => {
    await remember('pay', 'tool');
    await organizationHas({ approvers: { role: 'admin' }, remember: 'tool' });
    expect(await begins('pay', { n: 2 }, 'a')).toBe('ask');
    await organizationHas({ remember: 'exact' });
    expect(await begins('pay', { n: 2 }, 'b')).toBe('ask');
    await organizationHas({ effect: 'deny' });
    expect(await begins('pay', { n: 2 }, 'c')).toBe('denied');
    await organizationHas();
    leg = { ...leg, run: await world.read(leg.run) };
    expect(await begins('pay', { n: 2 }, 'd')).toBe('begun');
  });

  test('keeps the rules that the allow has satisfied, not those from when it was asked', async () => {
    await organizationHas({ approvers: { role: 'owner' }, remember: 'tool' });
    const { key } = await ask('pay', { n: 1 }, 'early');
    await organizationHas();
    await answer(key, { remember: 'tool' });
    leg = { ...leg, run: await world.read(leg.run) };
    await organizationHas({ approvers: { role: 'owner' }, remember: 'tool' });
    expect(await begins('pay', { n: 2 }, 'later')).toBe('ask');
  });

  test('of an approver counts for no run that this person has started', async () => {
    const approver: Allower = { kind: 'person', id: 'usr_9', role: 'admin', claimedRole: 'admin' };
    await organizationHas({ approvers: { not_starter: true }, remember: 'tool' });
    const { key } = await ask('pay', { n: 1 }, 'asked');
    await answer(key, { remember: 'tool' }, approver);
    leg = { ...leg, run: await world.read(leg.run) };
    expect(await begins('pay', { n: 2 }, 'two')).toBe('begun');
    leg = { ...leg, run: { ...(await world.read(leg.run)), createdBy: approver.id } };
    expect(await begins('pay', { n: 3 }, 'three')).toBe('ask');
  });

  test('answers a request of the program at once (D-511)', async () => {
    const key = await remember('pay', 'tool');
    const asked = await ask('pay', { n: 5 }, 'program');
    expect(asked).toMatchObject({
      status: 'answered',
      answer: { decision: 'allow' },
      decidedBy: 'memory',
      answeredBy: null,
    });
    expect((await logged()).at(-1)).toMatchObject({
      type: 'call_decided',
      data: { by: 'memory', interaction_key: key },
    });
    expect(await begins('pay', { n: 5 }, 'program')).toBe('begun');
  });
});
