import {
  type AgentRule,
  type OrganizationRule,
  agentRules,
  organizationRules,
  userId,
} from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { verifyAudit } from '../../src/app/audit.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { legRules } from '../../src/execution/recording/decide-calls.ts';
import type { NewCall } from '../../src/ports/harness.ts';
import { createRateLimit } from '../../src/runtime/rate-limit.ts';
import { expireInteractions } from '../../src/workers/retention/expire-interactions.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { openLedger } from '../support/leg-ledgers.ts';
import { type RunFixture, createRunFixture, hour } from '../support/run-fixture.ts';

describe.each(databaseKinds)('calls that no person decided about on %s', (kind) => {
  let world: RunFixture;
  let leg: ClaimedLeg;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });
  beforeEach(async () => {
    leg = await world.claimed(await world.start(await world.open()));
  });

  /** A process that executes the leg. */
  function processOf(rules: readonly Partial<AgentRule>[], services: RunFixture = world) {
    const list = agentRules.parse(
      rules.map((rule, at) => ({ name: `rule-${at}`, tools: ['pay'], effect: 'ask', ...rule })),
    );
    const agent = agentOf({ name: 'agent', rules: readRules(list) });
    const { writer, ledger } = openLedger(services, leg, { rules: legRules(agent, null) });
    const raise = async (ref = 'call-1') => {
      const request = { ref, toolCallId: ref, toolName: 'pay', toolInput: { iban: 'DE02' } };
      await writer.push({ type: 'permission_request', ...request });
      await writer.close();
    };
    return { ledger, raise };
  }

  const pay = (ref = 'call-1'): NewCall => ({
    ref,
    toolCallId: ref,
    toolName: 'pay',
    input: { iban: 'DE02' },
    touches: 'outside',
  });
  const logged = () => world.logOf(leg.run.id);
  const decided = async () =>
    (await logged()).flatMap(({ type, data }) => (type === 'call_decided' ? [data] : []));
  const stored = async (ref = 'call-1') =>
    (await world.store.read.interactions.findByRequest(leg.run.id, ref)) ??
    expect.fail('there is no request');
  const audited = async () => {
    const rows = await world.store.read.audit.newest(world.scope.organizationId, 1000);
    return rows.filter(({ details }) => details['run_id'] === leg.run.id);
  };
  const allow = async () => {
    const { key } = await stored();
    const request = { sessionId: leg.run.sessionId, key, body: { decision: 'allow' }, by, allower };
    await answerInteraction(world, world.scope, request);
  };
  async function counted(effect: string, by: string): Promise<number> {
    const label = `convoke_calls_decided_total{effect="${effect}",by="${by}"} `;
    const lines = (await world.metrics.render()).split('\n');
    return Number(lines.find((line) => line.startsWith(label))?.slice(label.length) ?? 0);
  }

  test('a denial is in the audit log with its rule, and without what the call was given (D-524)', async () => {
    const before = await counted('deny', 'rule');
    await processOf([{ effect: 'deny' }]).ledger.begin(pay());
    const [row, ...more] = await audited();
    expect(row).toMatchObject({
      action: 'call.deny',
      object: (await stored()).key,
      by: { kind: 'system' },
      outcome: 'done',
      details: {
        tenant_id: world.scope.tenantId,
        session_id: leg.run.sessionId,
        by: 'rule',
        tool_name: 'pay',
        rules: [{ source: 'agent', name: 'rule-0' }],
        version: 0,
        asked_sha256: expect.stringMatching(/^[\w-]{43}$/),
      },
    });
    expect(more).toEqual([]);
    expect(JSON.stringify(row)).not.toContain('DE02');
    expect(await counted('deny', 'rule')).toBe(before + 1);
    for await (const { problem } of verifyAudit(world)) expect(problem).toBeUndefined();
  });

  test('a rule that answers a request of the program is audited and counted as well (D-511, D-524)', async () => {
    const before = await counted('deny', 'rule');
    await processOf([{ effect: 'deny' }]).raise();
    expect(await audited()).toMatchObject([
      { action: 'call.deny', object: (await stored()).key, details: { tool_name: 'pay' } },
    ]);
    expect(await counted('deny', 'rule')).toBe(before + 1);
    expect(await decided()).toMatchObject([{ tool_call_id: 'call-1', effect: 'deny' }]);
  });

  test('the version of the document that denied is in the row (D-524)', async () => {
    const { organizationId } = world.scope;
    const rule: OrganizationRule = { name: 'none', tools: ['pay'], effect: 'deny' };
    const rules = organizationRules.parse([rule]);
    const document = { organizationId, updatedBy: userId('usr_1'), updatedAt: 1 };
    await world.store.transaction((tx) => tx.rules.save({ ...document, version: 1, rules }));
    await processOf([]).ledger.begin(pay());
    await world.store.transaction((tx) => tx.rules.save({ ...document, version: 2, rules: [] }));
    expect(await audited()).toMatchObject([
      { details: { version: 1, rules: [{ source: 'organization', name: 'none' }] } },
    ]);
  });

  test('a denial without an answer in time is audited once, however often the pass runs (D-522)', async () => {
    const before = await counted('deny', 'expiry');
    await processOf([{ wait_hours: 1, on_expiry: 'deny' }]).raise();
    world.clock.advance(hour + 1);
    await expireInteractions(world);
    await expireInteractions(world);
    expect(await audited()).toMatchObject([
      {
        action: 'call.deny',
        object: (await stored()).key,
        details: { by: 'expiry', rules: [{ name: 'rule-0' }] },
      },
    ]);
    expect(await counted('deny', 'expiry')).toBe(before + 1);
  });

  test('what a rule allows or asks about is counted, and no row (D-524)', async () => {
    const [allowed, asked] = [await counted('allow', 'rule'), await counted('ask', 'rule')];
    const { ledger } = processOf([{ effect: 'allow', tools: ['look'] }]);
    await ledger.begin({ ...pay('call-0'), toolName: 'look' });
    await processOf([{}]).raise();
    await allow();
    expect((await audited()).map(({ action }) => action)).toEqual(['interaction.answer']);
    expect(await counted('allow', 'rule')).toBe(allowed + 1);
    expect(await counted('ask', 'rule')).toBe(asked + 1);
  });

  test('an agent cannot fill the audit log; its own log has every denial (D-524)', async () => {
    const auditedCalls = createRateLimit(world.clock, { perMinute: 60, burst: 2 });
    const { ledger } = processOf([{ effect: 'deny' }], { ...world, auditedCalls });
    for (const ref of ['a', 'b', 'c', 'd']) await ledger.begin(pay(ref));
    expect(await audited()).toHaveLength(2);
    expect((await decided()).map((data) => data['tool_call_id'])).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a rule that only observes is reported once for a call that a person is asked about (D-525)', async () => {
    const rules = [{ name: 'watch', effect: 'deny', observe: true }, {}] as const;
    const first = processOf(rules);
    expect(await first.ledger.begin(pay())).toEqual({ kind: 'ask' });
    expect(await decided()).toEqual([]);
    await first.raise();
    await processOf(rules).raise();
    await allow();
    expect(await processOf(rules).ledger.begin(pay())).toEqual({ kind: 'begun' });
    expect(await decided()).toEqual([
      {
        tool_name: 'pay',
        tool_call_id: 'call-1',
        effect: 'deny',
        by: 'rule',
        rules: [{ source: 'agent', name: 'watch' }],
        observed: true,
      },
    ]);
    expect((await audited()).map(({ action }) => action)).toEqual(['interaction.answer']);
  });
});
