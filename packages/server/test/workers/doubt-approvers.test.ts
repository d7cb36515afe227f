import {
  type AgentRule,
  type OrganizationRule,
  agentRules,
  organizationRules,
  userId,
} from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { allowingNow } from '../../src/app/rules/shown-allowing.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Allower } from '../../src/domain/rules/approvers.ts';
import { keptPart } from '../../src/domain/rules/kept-part.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import { doubtOptions } from '../../src/domain/run/call-in-doubt.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, hour, maker, noRules } from '../support/run-fixture.ts';
import { intent, lossSteps } from './lost-workers.ts';

const { again, unknown } = doubtOptions;

const ask = (tool: string, approvers: AgentRule['approvers']): AgentRule => ({
  name: tool,
  tools: [tool],
  effect: 'ask',
  approvers,
});
const rules = agentRules.parse([
  ask('admins', { role: 'admin' }),
  ask('two', { people: 2 }),
  { name: 'never', tools: ['never'], effect: 'deny' },
  { ...ask('long', { role: 'admin' }), when: [{ path: '/input/force', present: true }] },
  {
    name: 'no-force',
    tools: ['long-denied'],
    effect: 'deny',
    when: [{ path: '/input/force', present: true }],
  },
]);

describe.each(databaseKinds)('a call in doubt that rules are about, on %s (D-520)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind, { rules: readRules(rules) }, { afterLoss: 'repeat' });
  });
  const { lose, started, beginCall } = lossSteps(() => world);
  const person = (claimedRole: 'admin' | 'operator'): Allower => ({
    kind: 'person',
    id: claimedRole,
    role: claimedRole,
    claimedRole,
  });
  const client: Allower = { kind: 'client', id: 'cli_1' };

  async function doubtful(toolName: string, input: Json = { amount: 5 }, server = world) {
    const leg = await started();
    await beginCall(leg, { toolName, input });
    const run = await lose(leg.run);
    const found = await world.store.read.interactions.findByRequest(run.id, 'in-doubt:call-1');
    const interaction = found ?? expect.fail('nothing was asked');
    const { sessionId } = run;
    const answer = (text: string, allower: Allower) =>
      answerInteraction(server, world.scope, {
        sessionId,
        key: interaction.key,
        body: { answer: text },
        by,
        allower,
      });
    const canAllow = async (allower: Allower) => {
      const reader = { allower, mayAnswer: true };
      return (await allowingNow(server, world.store.read, { interaction, run, reader }))?.canAllow;
    };
    return { answer, canAllow, run };
  }

  test('is run again only by a caller that may allow it', async () => {
    const { answer, canAllow } = await doubtful('admins');
    for (const other of [client, person('operator')]) {
      expect(await canAllow(other)).toBe(false);
      await expect(answer(again.label, other)).rejects.toMatchObject({
        code: 'not_an_approver',
        message: 'Allowing this needs a person who is admin or owner.',
      });
    }
    expect(await canAllow(person('admin'))).toBe(true);
    expect(await answer(again.label, person('admin'))).toMatchObject({ status: 'answered' });
  });

  test('takes every other answer from each caller that may answer', async () => {
    for (const tool of ['admins', 'two', 'never']) {
      const { answer } = await doubtful(tool);
      expect(await answer(unknown.label, client)).toMatchObject({ status: 'answered' });
    }
  });

  test('is run again by nobody where its agent cannot be read (D-1041)', async () => {
    const elsewhere = { ...world, agents: { ...world.agents, find: () => undefined } };
    const { answer, canAllow } = await doubtful('admins', undefined, elsewhere);
    for (const other of [client, person('admin')]) {
      expect(await canAllow(other)).toBe(false);
      await expect(answer(again.label, other)).rejects.toMatchObject({
        code: 'invalid_answer',
        message: expect.stringContaining('cannot be read'),
      });
    }
    expect(await answer(unknown.label, client)).toMatchObject({ status: 'answered' });
  });

  test('is not run again where more than one person is needed, or a rule denies it by now', async () => {
    const two = await doubtful('two');
    expect(await two.canAllow(person('admin'))).toBe(false);
    await expect(two.answer(again.label, person('admin'))).rejects.toMatchObject({
      code: 'invalid_answer',
      message: expect.stringContaining('2 people'),
    });
    const never = await doubtful('never');
    expect(await never.canAllow(person('admin'))).toBe(false);
    await expect(never.answer(again.label, person('admin'))).rejects.toMatchObject({
      code: 'denied_by_rule',
      message: 'Not allowed by the rule never of the agent. Choose another answer.',
    });
  });

  test('is not run again where a rule denies it when it begins: its agent is told so each time', async () => {
    const { answer, run } = await doubtful('pay');
    await answer(again.label, client);
    const { organizationId } = world.scope;
    const document = { organizationId, updatedBy: userId('usr_1'), updatedAt: 1 };
    const [rule] = organizationRules.parse([{ name: 'none', tools: ['pay'], effect: 'deny' }]);
    const save = (version: number, rules: readonly OrganizationRule[]) =>
      world.store.transaction((tx) => tx.rules.save({ ...document, version, rules }));
    await save(1, rule === undefined ? [] : [rule]);
    const next = await world.claimed(run);
    const beginAgain = async () => {
      const [placed] = [intent(next)];
      const recorded = await recordLeg(world, next.holder, {
        take: () => ({ items: [], notes: [placed], context: undefined, end: undefined }),
        waitMs: hour,
        rules: noRules,
        inDoubtAfter: undefined,
        lossesTotal: next.run.lossesTotal,
        maker,
      });
      return recorded?.refused.get(placed.note);
    };
    const denied = { kind: 'denied', reason: 'Not allowed by the rule none of the organization.' };
    expect(await beginAgain()).toEqual(denied);
    await save(2, []);
    expect(await beginAgain()).toEqual(denied);
    expect(await world.store.read.toolCalls.ofRun(run.id)).toMatchObject([{ status: 'again' }]);
    const later = await lose(next.run);
    expect(later).toMatchObject({ pendingInteractions: 0 });
  });

  test('of which only a part was kept counts as one that the rules are about (D-904)', async () => {
    const asked = await doubtful('long', keptPart('deploy', '9f86d0'));
    expect(await asked.canAllow(person('operator'))).toBe(false);
    await expect(asked.answer(again.label, person('operator'))).rejects.toMatchObject({
      code: 'not_an_approver',
    });
    expect(await asked.answer(again.label, person('admin'))).toMatchObject({ status: 'answered' });
    const denied = await doubtful('long-denied', keptPart('deploy', '9f86d0'));
    expect(await denied.canAllow(person('admin'))).toBe(false);
    await expect(denied.answer(again.label, person('admin'))).rejects.toMatchObject({
      code: 'denied_by_rule',
    });
    const whole = await doubtful('long-denied', { title: 'deploy', input: {} });
    expect(await whole.answer(again.label, client)).toMatchObject({ status: 'answered' });
  });

  test('that no rule is about is run again by each caller that may answer', async () => {
    const { answer, canAllow } = await doubtful('pay');
    expect(await canAllow(client)).toBe(true);
    expect(await answer(again.label, client)).toMatchObject({ status: 'answered' });
  });
});
