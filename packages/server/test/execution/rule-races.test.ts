// A call begins beside something that changes what rules say about it: one of the two is first, and both know which.
import { type OrganizationRule, agentRules } from '@convoke/contract';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { forgetAllow } from '../../src/app/rules/forget.ts';
import type { Allower } from '../../src/domain/rules/approvers.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { legRules } from '../../src/execution/recording/decide-calls.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import type { NewCall } from '../../src/ports/harness.ts';
import type { Store } from '../../src/ports/store.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { openLedger } from '../support/leg-ledgers.ts';
import { setOrganizationRules } from '../support/organization-rules.ts';
import { type RunFixture, createRunFixture, delta, hour, maker } from '../support/run-fixture.ts';

const rules = agentRules.parse([
  { name: 'pay', tools: ['pay'], effect: 'ask', remember: 'tool' },
  { name: 'two', tools: ['wire'], effect: 'ask', approvers: { role: 'admin', people: 2 } },
]);
const rounds = 8;

describe.each(databaseKinds)('a call that begins on %s', (kind) => {
  let world: RunFixture;
  let leg: ClaimedLeg;
  beforeAll(async () => {
    world = await createRunFixture(kind, { rules: readRules(rules) });
  });
  beforeEach(async () => {
    leg = await world.claimed(await world.start(await world.open()));
  });
  afterEach(() => organizationHas());

  const organizationHas = (...list: readonly OrganizationRule[]) =>
    setOrganizationRules(world, list);
  const ledgerOf = (of: ClaimedLeg, services = world) =>
    openLedger(services, of, { rules: legRules(world.agents.find('agent'), null) });
  const call = (toolName: string, ref: string): NewCall => ({
    ref,
    toolName,
    input: { ref },
    touches: 'outside',
  });
  const begun = async () =>
    (await world.store.read.toolCalls.ofRun(leg.run.id)).map(({ ref }) => ref);
  const asked = async (ref: string) =>
    (await world.store.read.interactions.findByRequest(leg.run.id, ref)) ?? expect.fail('no ask');
  async function ask(toolName: string, ref: string) {
    const { writer } = ledgerOf(leg);
    await writer.push({ type: 'permission_request', ref, toolName, toolInput: { ref } });
    await writer.close();
    leg = { ...leg, run: await world.read(leg.run) };
    return asked(ref);
  }
  const allows = (key: string, allower: Allower, body: object = {}) =>
    answerInteraction(world, world.scope, {
      sessionId: leg.run.sessionId,
      key: key as never,
      body: { decision: 'allow', ...body },
      by: { ...by, id: allower.id },
      allower,
    });
  const person = (id: string): Extract<Allower, { kind: 'person' }> => ({
    kind: 'person',
    id,
    role: 'admin',
    claimedRole: 'admin',
  });

  test('beside a document that denies it has begun, or is denied and not written (D-506)', async () => {
    for (let round = 0; round < rounds; round += 1) {
      await organizationHas();
      const { ledger } = ledgerOf(leg);
      const ref = `free-${round}`;
      const [{ kind: became }] = await Promise.all([
        ledger.begin(call('free', ref)),
        organizationHas({ name: 'none', tools: ['free'], effect: 'deny' }),
      ]);
      expect(['begun', 'denied']).toContain(became);
      expect((await begun()).includes(ref)).toBe(became === 'begun');
      const denial = await world.store.read.interactions.findByRequest(leg.run.id, ref);
      expect(denial?.status).toBe(became === 'denied' ? 'answered' : undefined);
      expect(await ledger.begin(call('free', `late-${round}`))).toMatchObject({ kind: 'denied' });
      leg = { ...leg, run: await world.read(leg.run) };
    }
  });

  test('when the document changes as its transaction begins, is decided by the new one (D-507)', async () => {
    let isNext = true;
    const store: Store = {
      ...world.store,
      async transaction(work) {
        if (isNext) {
          isNext = false;
          await organizationHas({ name: 'none', tools: ['free'], effect: 'deny' });
        }
        return world.store.transaction(work);
      },
    };
    const { ledger } = ledgerOf(leg, { ...world, store });
    expect(await ledger.begin(call('free', 'one'))).toMatchObject({ kind: 'denied' });
    expect(await begun()).toEqual([]);
  });

  test('beside a memory that is forgotten has begun by it, or is asked about (D-521)', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { key } = await ask('pay', `asked-${round}`);
      await allows(key, person('usr_1'), { remember: 'tool' });
      leg = { ...leg, run: await world.read(leg.run) };
      const { ledger } = ledgerOf(leg);
      const ref = `pay-${round}`;
      const { sessionId } = leg.run;
      const [{ kind: became }] = await Promise.all([
        ledger.begin(call('pay', ref)),
        forgetAllow(world, world.scope, { sessionId, key, by }),
      ]);
      expect(['begun', 'ask']).toContain(became);
      expect((await begun()).includes(ref)).toBe(became === 'begun');
      const told = (await world.logOf(leg.run.id)).filter(
        ({ type, data }) => type === 'call_decided' && data['interaction_key'] === key,
      );
      expect(told).toHaveLength(became === 'begun' ? 1 : 0);
      expect(await ledger.begin(call('pay', `late-${round}`))).toEqual({ kind: 'ask' });
      leg = { ...leg, run: await world.read(leg.run) };
    }
  });

  test('is not taken for written because a person has just approved another one (D-321, D-516)', async () => {
    const { key } = await ask('wire', 'wire');
    const before = leg.run.lastSeq;
    expect(await allows(key, person('usr_1'))).toMatchObject({ status: 'pending' });
    const send = () =>
      recordLeg(world, leg.holder, {
        take: () => ({
          items: [delta('said once')],
          notes: [],
          context: undefined,
          end: undefined,
        }),
        waitMs: hour,
        rules: legRules(world.agents.find('agent'), null),
        inDoubtAfter: before,
        lossesTotal: leg.run.lossesTotal,
        maker,
      });
    const said = async () =>
      (await world.logOf(leg.run.id)).flatMap(({ type }) =>
        ['permission_approved', 'message_delta'].includes(type) ? [type] : [],
      );
    await send();
    expect(await said()).toEqual(['permission_approved', 'message_delta']);
    // Its answer is lost once more: now the log has it.
    await send();
    expect(await said()).toEqual(['permission_approved', 'message_delta']);
  });

  test('after two people of another issuer, each with the role of their own answer, has begun (D-516)', async () => {
    const { key } = await ask('wire', 'wire');
    const operator: Allower = { ...person('usr_3'), role: 'operator', claimedRole: 'operator' };
    expect(await allows(key, person('usr_1'))).toMatchObject({ status: 'pending' });
    await expect(allows(key, operator)).rejects.toMatchObject({ code: 'not_an_approver' });
    // Neither is a member that this server knows: only the token of each says the role.
    expect(await allows(key, person('usr_2'))).toMatchObject({
      status: 'answered',
      approvals: [
        { by: 'usr_1', claimedRole: 'admin' },
        { by: 'usr_2', claimedRole: 'admin' },
      ],
    });
    leg = { ...leg, run: await world.read(leg.run) };
    expect(await ledgerOf(leg).ledger.begin(call('wire', 'wire'))).toMatchObject({ kind: 'begun' });
  });
});
