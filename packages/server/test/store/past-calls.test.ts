import { type OrganizationRule, interactionKey, limits } from '@convoke/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { type TryRules, tryRules } from '../../src/app/rules/try-rules.ts';
import type { Json } from '../../src/domain/json.ts';
import { keptPart } from '../../src/domain/rules/kept-part.ts';
import { deniedByRule, openInteraction } from '../../src/domain/interaction.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, hour } from '../support/run-fixture.ts';
import { sql } from '../../src/store/sql.ts';

const pay: OrganizationRule = { name: 'pay', tools: ['pay'], effect: 'ask' };

describe.each(databaseKinds)('past calls on %s (D-526)', (kind) => {
  let world: RunFixture;
  let run: Run;
  beforeEach(async () => {
    world = await createRunFixture(kind);
    run = await world.start(await world.open());
  });

  const attempt = (more: Partial<TryRules> = {}) =>
    tryRules(world, world.scope.organizationId, {
      rules: [pay],
      since: 0,
      ...more,
    });

  async function called(ref: string, input: Json = {}, of = run) {
    const owner = { runId: of.id, tenantId: of.tenantId };
    const touches = 'outside' as const;
    const call = { ref, toolName: 'pay', input, touches, epoch: 1, begunAt: world.clock.now() };
    await world.store.transaction((tx) => tx.toolCalls.begin(owner, call));
  }

  async function asked(
    ref: string,
    as: { readonly isDenied?: boolean; readonly spentOn?: string } = {},
  ) {
    const { organizationId, tenantId, sessionId, id: runId } = run;
    const key = interactionKey(world.ids.next('int'));
    const identity = { organizationId, tenantId, sessionId, runId, key, requestId: ref };
    const request = { kind: 'permission', toolName: 'pay', toolInput: {} } as const;
    const now = world.clock.now();
    await world.store.transaction(async (tx) => {
      if (as.isDenied === true) {
        await tx.interactions.insert(deniedByRule({ ...identity, request, reason: 'no' }, now));
      } else {
        await tx.interactions.insert(openInteraction({ ...identity, request, waitMs: hour }, now));
      }
      if (as.spentOn !== undefined) await tx.interactions.spend(key, as.spentOn);
    });
  }

  test('are each counted once, whether the ledger or a request has them', async () => {
    await called('made');
    await asked('only asked');
    await asked('made', { spentOn: 'made' });
    await called('x');
    await asked('asked under another ref', { spentOn: 'x' });
    await asked('allowed');
    await asked('allowed denied', { isDenied: true });
    expect(await attempt()).toMatchObject({ calls: 4, changed: 4, end: undefined });
  });

  test('of which only a part was kept meet what it cannot rule out (D-904)', async () => {
    await called('long', keptPart('deploy', '9f86d0'));
    await called('whole', { title: 'deploy', input: {} });
    const when = [{ path: '/input/force', present: true }];
    const rules = [{ ...pay, effect: 'deny' as const, when }];
    expect(await attempt({ rules })).toMatchObject({
      calls: 2,
      rules: [{ name: 'pay', matched: 1 }],
      changes: [{ before: 'allow', after: 'deny' }],
    });
  });

  test('are in one page each, however many there are', async () => {
    const count = limits.ruleTrialCallsMax + 10;
    await world.database.transaction((tx) =>
      tx.run(sql`
        insert into tool_calls (run_id, ref, tenant_id, epoch, tool_name, input, touches, status, begun_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
        select ${run.id}, 'call-' || n, ${run.tenantId}, 1, 'pay', '{}', 'outside', 'begun', 1
        from numbers`),
    );
    const first = await attempt();
    expect(first.calls).toBeLessThanOrEqual(limits.ruleTrialCallsMax);
    expect(first.changes).toHaveLength(limits.ruleTrialChangesMax);
    let total = first.calls;
    for (let { end } = first; end !== undefined; ) {
      const page = await attempt({ after: end });
      total += page.calls;
      end = page.end;
    }
    expect(total).toBe(count);
  });

  test('with large inputs fill a page, and the next page has the others', async () => {
    const text = 'x'.repeat(9 * 1024 * 1024);
    await called('a', { text });
    await called('b', { text });
    const other = await world.start(await world.open());
    await called('c', { text }, other);
    // The call that fills the page is part of it.
    const first = await attempt();
    expect(first).toMatchObject({ calls: 2, end: expect.any(String) });
    const second = await attempt({ after: first.end });
    expect(second).toMatchObject({ calls: 1, end: undefined });
    const runs = [first, second].flatMap(({ changes }) => changes.map(({ runId }) => runId));
    expect(runs).toEqual([other.id, run.id, run.id]);
  });
});
