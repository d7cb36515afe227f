import { type OrganizationRule, agentRules } from '@convoke/contract';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { allowingNow } from '../../src/app/rules/shown-allowing.ts';
import type { Allower } from '../../src/domain/rules/approvers.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import { legRules } from '../../src/execution/recording/decide-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { setOrganizationRules } from '../support/organization-rules.ts';
import { type RunFixture, createRunFixture, over } from '../support/run-fixture.ts';

const rules = agentRules.parse([{ name: 'people', tools: ['pay'], effect: 'ask', approvers: {} }]);
const client: Allower = { kind: 'client', id: 'cli_1' };
const person = (role: 'operator' | 'admin'): Allower => ({
  kind: 'person',
  id: `usr_${role}`,
  role,
  claimedRole: role,
});

describe.each(databaseKinds)('a request whose agent cannot be read any more, on %s', (kind) => {
  let world: RunFixture;
  /** A server that does not have the agent. */
  let elsewhere: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind, { rules: readRules(rules) });
    elsewhere = { ...world, agents: { ...world.agents, find: () => undefined } };
  });
  afterEach(() => organizationHas());

  const organizationHas = (...list: readonly OrganizationRule[]) =>
    setOrganizationRules(world, list);

  async function asked() {
    const leg = await world.claimed(await world.start(await world.open()));
    const item = { type: 'permission_request', ref: 'pay', toolName: 'pay', toolInput: 5 } as const;
    const end = { status: 'waiting', ...over } as const;
    await world.record(leg, { items: [item], end }, legRules(world.agents.find('agent'), null));
    const run = await world.read(leg.run);
    const found = await world.store.read.interactions.findByRequest(run.id, 'pay');
    const interaction = found ?? expect.fail('nothing was asked');
    const { sessionId } = run;
    const request = { sessionId, key: interaction.key, body: { decision: 'allow' } };
    const answer = (allower: Allower) =>
      answerInteraction(elsewhere, world.scope, {
        ...request,
        by: { ...by, id: allower.id },
        allower,
      });
    const shown = (allower: Allower) =>
      allowingNow(elsewhere, world.store.read, {
        interaction,
        run,
        reader: { allower, mayAnswer: true },
      });
    return { answer, shown };
  }

  test('is judged by the part of the agent that asked (D-515)', async () => {
    const { answer, shown } = await asked();
    expect(await shown(client)).toMatchObject({ canAllow: false, rules: [{ name: 'people' }] });
    await expect(answer(client)).rejects.toMatchObject({ code: 'not_an_approver' });
    expect(await answer(person('operator'))).toMatchObject({ status: 'answered' });
  });

  test('and by the document of the organization as it is now (D-505, D-515)', async () => {
    const { answer, shown } = await asked();
    const ask: OrganizationRule = { name: 'admins', tools: ['*'], effect: 'ask' };
    await organizationHas({ ...ask, approvers: { role: 'admin', clients: true } });
    // Both demands hold: of the agent that no client may, of the organization the role.
    for (const other of [client, person('operator')]) {
      expect(await shown(other)).toMatchObject({ canAllow: false });
      await expect(answer(other)).rejects.toMatchObject({ code: 'not_an_approver' });
    }
    await organizationHas({ name: 'none', tools: ['pay'], effect: 'deny' });
    await expect(answer(person('admin'))).rejects.toMatchObject({ code: 'denied_by_rule' });
    await organizationHas({ ...ask, approvers: { role: 'admin' } });
    expect(await answer(person('admin'))).toMatchObject({ status: 'answered' });
  });
});
