import { type AgentRule, agentRules } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { allowingNow } from '../../src/app/rules/shown-allowing.ts';
import type { Allower } from '../../src/domain/rules/approvers.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import { doubtOptions } from '../../src/domain/run/call-in-doubt.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture } from '../support/run-fixture.ts';
import { lossSteps } from './lost-workers.ts';

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

  async function doubtful(toolName: string) {
    const leg = await started();
    await beginCall(leg, { toolName });
    const run = await lose(leg.run);
    const found = await world.store.read.interactions.findByRequest(run.id, 'in-doubt:call-1');
    const interaction = found ?? expect.fail('nothing was asked');
    const { sessionId } = run;
    const answer = (text: string, allower: Allower) =>
      answerInteraction(world, world.scope, {
        sessionId,
        key: interaction.key,
        body: { answer: text },
        by,
        allower,
      });
    const canAllow = async (allower: Allower) => {
      const reader = { allower, mayAnswer: true };
      return (await allowingNow(world, world.store.read, { interaction, run, reader }))?.canAllow;
    };
    return { answer, canAllow };
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

  test('that no rule is about is run again by each caller that may answer', async () => {
    const { answer, canAllow } = await doubtful('pay');
    expect(await canAllow(client)).toBe(true);
    expect(await answer(again.label, client)).toMatchObject({ status: 'answered' });
  });
});
