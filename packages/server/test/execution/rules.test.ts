import { type OrganizationRule, organizationRules } from '@convoke/contract';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import type { Json } from '../../src/domain/json.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { legRules } from '../../src/execution/recording/decide-calls.ts';
import type { LegWriter } from '../../src/execution/recording/leg-writer.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { NewCall } from '../../src/ports/harness.ts';
import type { Store, StoreTransaction } from '../../src/ports/store.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { openLedger } from '../support/leg-ledgers.ts';
import { setOrganizationRules } from '../support/organization-rules.ts';
import { type RunFixture, createRunFixture } from '../support/run-fixture.ts';

type Rule = Partial<OrganizationRule>;

describe.each(databaseKinds)('rules about the calls of a leg on %s (D-507)', (kind) => {
  let world: RunFixture;
  let leg: ClaimedLeg;
  /** The leg that a ledger was opened for. */
  let executed: ClaimedLeg | undefined;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });
  beforeEach(async () => {
    leg = await world.claimed(await world.start(await world.open()));
  });

  const named = (rules: readonly Rule[]) =>
    rules.map((rule, at) => ({ name: `rule-${at}`, tools: ['pay'], ...rule }));

  /** The ledger of the leg, or of another process that executes it. */
  const ledgerOf = (...rules: readonly Rule[]) => ledgerOn(world, rules);

  function ledgerOn(services: RunFixture, rules: readonly Rule[]) {
    const list = named(rules).map((rule) => ({ effect: 'ask', ...rule }));
    const agent = agentOf({ name: 'agent', rules: readRules(organizationRules.parse(list)) });
    const saved: string[] = [];
    const saveFolder = async () => {
      saved.push('saved');
      return undefined;
    };
    const isLater = executed === leg;
    executed = leg;
    const parts = { rules: legRules(agent, null), isLater, saveFolder };
    return { ...openLedger(services, leg, parts), saved };
  }

  const organizationHas = (...rules: readonly Rule[]) => setOrganizationRules(world, named(rules));
  afterEach(async () => {
    const version = await world.store.read.rules.version(world.scope.organizationId);
    if (version > 0) await organizationHas();
  });

  const pay = (amount: Json = 5, more: Partial<NewCall> = {}): NewCall => ({
    ref: 'call-1',
    toolName: 'pay',
    input: { amount },
    touches: 'outside',
    ...more,
  });
  const logged = () => world.logOf(leg.run.id);
  const types = async () => (await logged()).map(({ type }) => type);
  const calls = async () =>
    (await world.store.read.toolCalls.ofRun(leg.run.id)).map(({ ref }) => ref);
  const stored = (ref = 'call-1') => world.store.read.interactions.findByRequest(leg.run.id, ref);
  const raise = async (writer: LegWriter, input: Json, ref = 'call-1') => {
    await writer.push({ type: 'permission_request', ref, toolName: 'pay', toolInput: input });
    await writer.close();
  };
  const allow = async (ref = 'call-1', answer: object = { decision: 'allow' }) => {
    const key = (await stored(ref))?.key ?? expect.fail('nothing was asked');
    const request = { sessionId: leg.run.sessionId, key, body: { ...answer }, by, allower };
    await answerInteraction(world, world.scope, request);
  };

  test('a denied call is not begun, and its denial is an interaction that no person answered (D-510)', async () => {
    const { ledger, saved } = ledgerOf({ effect: 'deny', reason: 'Not today.' });
    const reason = 'Not allowed by the rule rule-0 of the agent: Not today.';
    expect(await ledger.begin(pay())).toEqual({ kind: 'denied', reason });
    expect([await calls(), saved]).toEqual([[], []]);
    expect(await stored()).toMatchObject({
      status: 'answered',
      answer: { decision: 'deny', message: reason },
      answeredBy: null,
      decidedBy: 'rule',
      appliedAt: expect.any(Number),
    });
    expect(await logged()).toMatchObject([
      { type: 'run_started' },
      {
        type: 'call_decided',
        data: {
          tool_name: 'pay',
          effect: 'deny',
          by: 'rule',
          rules: [{ source: 'agent', name: 'rule-0', reason: 'Not today.' }],
          interaction_key: (await stored())?.key,
        },
      },
    ]);
  });

  test('the whole input decides where only a part of it is kept (D-503)', async () => {
    const { ledger } = ledgerOf(
      { when: [{ path: '/force', present: true }], effect: 'deny' },
      { when: [{ path: '/amount', gt: 100 }], effect: 'deny' },
    );
    const kept = { dropped: true };
    const whole = (wholeInput: Json, ref: string) => ledger.begin(pay(kept, { wholeInput, ref }));
    expect(await whole({ amount: 5, force: true }, 'a')).toMatchObject({ kind: 'denied' });
    expect(await whole({ amount: 500 }, 'b')).toMatchObject({ kind: 'denied' });
    expect(await whole({ amount: 5 }, 'c')).toEqual({ kind: 'begun' });
    expect(await stored('a')).toMatchObject({ toolInput: { amount: kept } });
    expect(await calls()).toEqual(['c']);
  });

  test('a denial stays one for its call, even when the rules allow it by then (D-510)', async () => {
    const reason = 'Not allowed by the rule rule-0 of the agent.';
    await ledgerOf({ effect: 'deny' }).ledger.begin(pay());
    for (const { ledger } of [
      ledgerOf({ effect: 'deny' }),
      ledgerOf(),
      ledgerOf({ effect: 'allow' }),
    ]) {
      expect(await ledger.decide(pay())).toEqual({ kind: 'denied', reason });
      expect(await ledger.begin(pay())).toEqual({ kind: 'denied', reason });
    }
    expect(await types()).toEqual(['run_started', 'call_decided']);
    expect(await ledgerOf().ledger.begin(pay(5, { ref: 'call-2' }))).toEqual({ kind: 'begun' });
  });

  test('a denial stays one in the leg that got it, whose run had no request before (D-510)', async () => {
    const { ledger } = ledgerOf();
    expect(await ledger.begin(pay(5, { ref: 'call-2' }))).toEqual({ kind: 'begun' });
    await organizationHas({ effect: 'deny' });
    expect(await ledger.begin(pay())).toMatchObject({ kind: 'denied' });
    await organizationHas();
    expect(await ledger.begin(pay())).toMatchObject({ kind: 'denied' });
    expect(await calls()).toEqual(['call-2']);
  });

  test('a denied call that is free stays denied once no rule names its tool (D-508, D-510)', async () => {
    const read = { toolName: 'read', isFree: true };
    const { ledger } = ledgerOf({ tools: ['read'], effect: 'deny' });
    const denied = await ledger.begin(pay(5, read));
    expect(denied).toMatchObject({ kind: 'denied' });
    const next = ledgerOf().ledger;
    for (const _ of [1, 2]) expect(await next.begin(pay(5, read))).toEqual(denied);
    expect(await next.begin(pay(5, { ...read, ref: 'call-2' }))).toEqual({ kind: 'begun' });
    expect([await calls(), await types()]).toEqual([[], ['run_started', 'call_decided']]);
  });

  test('earlier denials are not read with each call: an agent can cause any number of them', async () => {
    let rows = 0;
    const countedRows = (all: StoreTransaction['interactions']) =>
      new Proxy(all, {
        get:
          (_, name) =>
          async (...given: readonly unknown[]) => {
            const found: unknown = await Reflect.apply(Reflect.get(all, name) as never, all, given);
            if (Array.isArray(found)) rows += found.length;
            return found;
          },
      });
    const counted = (tx: StoreTransaction) =>
      new Proxy(tx, {
        get: (_, name) => {
          if (name === 'interactions') return countedRows(tx.interactions);
          const value: unknown = Reflect.get(tx, name);
          return typeof value === 'function' ? value.bind(tx) : value;
        },
      });
    const store: Store = {
      ...world.store,
      transaction: (work) => world.store.transaction((tx) => work(counted(tx))),
    };
    const { ledger } = ledgerOn({ ...world, store }, [{ effect: 'deny' }]);
    for (let call = 0; call < 20; call += 1) {
      expect(await ledger.begin(pay(5, { ref: `c${call}` }))).toMatchObject({ kind: 'denied' });
    }
    expect(rows).toBe(0);
    expect(await ledger.begin(pay(5, { ref: 'c7' }))).toMatchObject({ kind: 'denied' });
    expect(rows).toBe(1);
  });

  test('an allow stays one when the rules name approvers later: it was judged when it was given (D-820)', async () => {
    const { ledger, writer } = ledgerOf({});
    expect(await ledger.begin(pay())).toEqual({ kind: 'ask' });
    await raise(writer, { amount: 5 });
    await allow();
    const named = ledgerOf({ approvers: { role: 'admin' } });
    expect(await named.ledger.begin(pay())).toEqual({ kind: 'begun' });
    expect(await named.ledger.begin(pay(5, { ref: 'call-2' }))).toEqual({ kind: 'ask' });
  });

  test('an asked call begins with exactly the input that a person allowed, once (D-519)', async () => {
    const { ledger, writer, saved } = ledgerOf({ when: [{ path: '/amount', gt: 3 }] });
    expect(await ledger.begin(pay(2, { ref: 'small' }))).toEqual({ kind: 'begun' });
    expect(await ledger.decide(pay())).toEqual({ kind: 'ask' });
    // It was not begun, so a process that lives on may begin it again after the answer.
    for (const _ of [1, 2]) expect(await ledger.begin(pay())).toEqual({ kind: 'ask' });
    expect([await calls(), saved]).toEqual([['small'], ['saved']]);
    await raise(writer, { amount: 5 });
    expect((await logged()).at(-1)).toMatchObject({
      type: 'permission_request',
      data: { rules: [{ source: 'agent', name: 'rule-0' }] },
    });
    await allow();
    const next = ledgerOf({ when: [{ path: '/amount', gt: 3 }] }).ledger;
    expect(await next.begin(pay(6))).toEqual({ kind: 'ask' });
    expect(await next.begin(pay(5))).toEqual({ kind: 'begun' });
    expect(await stored()).toMatchObject({ spentOn: 'call-1' });
    expect(await next.begin(pay(5, { ref: 'call-2' }))).toEqual({ kind: 'ask' });
  });

  test('an allow under another ref is used by one call (D-176, D-519)', async () => {
    const { ledger, writer } = ledgerOf({});
    await raise(writer, { amount: 5 }, 'asked');
    await allow('asked', { decision: 'allow', updated_input: { amount: 7 } });
    expect(await ledger.begin(pay(5, { ref: 'x' }))).toEqual({ kind: 'left' });
    const next = ledgerOf({}).ledger;
    expect(await next.begin(pay(5, { ref: 'x' }))).toEqual({ kind: 'ask' });
    const both = [next.begin(pay(7, { ref: 'a' })), next.begin(pay(7, { ref: 'b' }))];
    const kinds = (await Promise.all(both)).map(({ kind: became }) => became);
    expect(kinds.toSorted()).toEqual(['ask', 'begun']);
  });

  test('a denial by then wins over the allow of a person (D-519)', async () => {
    const { writer } = ledgerOf({});
    await raise(writer, { amount: 5 });
    await allow();
    const { ledger } = ledgerOf({ effect: 'deny' });
    expect(await ledger.begin(pay())).toMatchObject({ kind: 'denied' });
    expect(await stored('call-1 denied')).toMatchObject({ decidedBy: 'rule' });
    expect(await ledgerOf().ledger.begin(pay())).toMatchObject({ kind: 'denied' });
  });

  test('what only rules decided is in the log, and what no rule is about is not (D-523)', async () => {
    const { ledger } = ledgerOf(
      { name: 'watch', effect: 'deny', observe: true },
      { name: 'small', effect: 'allow', when: [{ path: '/amount', lt: 10 }] },
    );
    expect(await ledger.begin(pay())).toEqual({ kind: 'begun' });
    expect(await ledger.begin(pay(1, { ref: 'other', toolName: 'other' }))).toEqual({
      kind: 'begun',
    });
    expect((await logged()).slice(1)).toMatchObject([
      {
        type: 'call_decided',
        data: { effect: 'deny', observed: true, rules: [{ name: 'watch' }] },
      },
      { type: 'call_decided', data: { effect: 'allow', by: 'rule', rules: [{ name: 'small' }] } },
    ]);
  });

  test('a free call is written down only where a rule names its tool (D-508)', async () => {
    const free = { toolName: 'read', isFree: true };
    const { ledger, saved } = ledgerOf({ tools: ['r*'], when: [{ path: '/amount', eq: 1 }] });
    expect(await ledger.begin(pay(5, { ...free, toolName: 'look', ref: 'l' }))).toEqual({
      kind: 'begun',
    });
    await ledger.end('l', { ok: true, output: '' });
    expect(await ledger.begin(pay(5, { ...free, ref: 'r' }))).toEqual({ kind: 'begun' });
    await ledger.end('r', { ok: true, output: '' });
    expect(await ledger.begin(pay(1, { ...free, ref: 's' }))).toEqual({ kind: 'ask' });
    expect(await world.store.read.toolCalls.ofRun(leg.run.id)).toMatchObject([
      { ref: 'r', isRepeatable: true, status: 'ended' },
    ]);
    expect(saved).toEqual([]);
  });

  test('a leg without calls reads no rules', async () => {
    const used: (string | symbol)[] = [];
    const watched = (tx: StoreTransaction) =>
      new Proxy(tx, {
        get: (_, name) => {
          used.push(name);
          const value: unknown = Reflect.get(tx, name);
          return typeof value === 'function' ? value.bind(tx) : value;
        },
      });
    const store: Store = {
      ...world.store,
      transaction: (work) => world.store.transaction((tx) => work(watched(tx))),
    };
    const { writer } = ledgerOn({ ...world, store }, [{ effect: 'deny' }]);
    await writer.push({ type: 'text_delta', data: { text: 'hello' } });
    await writer.close();
    expect(used).not.toContain('rules');
    leg = { ...leg, run: await world.read(leg.run) };
    await ledgerOn({ ...world, store }, []).ledger.begin(pay());
    expect(used).toContain('rules');
  });

  test('no rule is about requests to a model and messages (D-509)', async () => {
    const { ledger } = ledgerOf({ tools: ['*'], effect: 'deny' });
    expect(await ledger.begin(pay(5, { kind: 'model' }))).toEqual({ kind: 'begun' });
    expect(await ledger.decide(pay(5, { kind: 'message' }))).toMatchObject({ kind: 'allowed' });
  });

  test('a denial whose commit got no answer is written once (D-321)', async () => {
    let commits = 0;
    const store: Store = {
      ...world.store,
      async transaction(work) {
        const result = await world.store.transaction(work);
        if ((commits += 1) === 1) throw new StorageUnavailable('the answer was lost');
        return result;
      },
    };
    const log = { ...world.log, error: () => {} };
    const { ledger } = ledgerOn({ ...world, store, log }, [{ effect: 'deny' }]);
    const denied = ledger.begin(pay());
    await until(
      () => {
        world.clock.advance(500);
        return commits > 1;
      },
      { what: 'second commit' },
    );
    expect(await denied).toMatchObject({ kind: 'denied' });
    expect(await types()).toEqual(['run_started', 'call_decided']);
  });

  test("the organization's document counts from the next call on (D-506)", async () => {
    const { ledger } = ledgerOf();
    expect(await ledger.begin(pay(5, { ref: 'a' }))).toEqual({ kind: 'begun' });
    await organizationHas({ effect: 'deny', agents: ['agent'] });
    // What this server knows is out of date: the transaction finds that out, and decides once more.
    const denied = await ledger.begin(pay(5, { ref: 'b', touches: 'workspace' }));
    expect(denied).toMatchObject({
      kind: 'denied',
      reason: expect.stringContaining('organization'),
    });
    expect(await calls()).toEqual(['a']);
    await organizationHas({ effect: 'deny', agents: ['another'] });
    expect(await ledger.begin(pay(5, { ref: 'c' }))).toEqual({ kind: 'begun' });
    expect(await types()).toEqual(['run_started', 'call_decided']);
  });

  test('a rule that comes between the decision and the intent holds (D-506)', async () => {
    const { ledger } = ledgerOf();
    expect(await ledger.decide(pay())).toEqual({ kind: 'allowed', isNamed: false });
    await organizationHas({});
    expect(await ledger.begin(pay())).toEqual({ kind: 'ask' });
    expect([await calls(), await types()]).toEqual([[], ['run_started']]);
  });

  test('a call that is only shown is decided without a read, until one of the leg has met other rules (D-906)', async () => {
    let reads = 0;
    const read = new Proxy(world.store.read, {
      get: (all, name) => {
        reads += 1;
        return Reflect.get(all, name) as unknown;
      },
    });
    const services = { ...world, store: { ...world.store, read } };
    const { ledger } = ledgerOn(services, [{ tools: ['drop'], effect: 'deny' }]);
    const shown = (ref: string, more: Partial<NewCall> = {}) => {
      reads = 0;
      return ledger.decide(pay(5, { ref, ...more }), 'lately');
    };
    const allowed = { kind: 'allowed', isNamed: false };
    expect([await shown('one'), reads > 0]).toEqual([allowed, true]);
    expect([await shown('two'), reads]).toEqual([allowed, 0]);
    expect([await shown('three', { toolName: 'drop' }), reads > 0]).toMatchObject([
      { kind: 'denied' },
      true,
    ]);
    await organizationHas({ effect: 'deny' });
    expect(await shown('four')).toEqual(allowed);
    expect(await ledger.begin(pay(5, { ref: 'four' }))).toMatchObject({ kind: 'denied' });
    expect(await calls()).toEqual([]);
    expect(await shown('five')).toMatchObject({ kind: 'denied' });
  });

  test('a request of the program that a rule denies is answered at once (D-511)', async () => {
    const { writer } = ledgerOf({ effect: 'deny' });
    await raise(writer, { amount: 5 });
    expect(await types()).toEqual(['run_started', 'call_decided']);
    expect(await stored()).toMatchObject({ decidedBy: 'rule', appliedAt: null });
    expect((await world.read(leg.run)).pendingInteractions).toBe(0);
    const end = { status: 'waiting', outputText: null } as const;
    await world.record(leg, { end });
    // The answer is there, so the next leg may start.
    const next = await world.claimed(await world.read(leg.run), 'worker-2');
    expect(next.input).toMatchObject({ kind: 'resume' });
    const answers = 'answers' in next.input ? [...next.input.answers.values()] : [];
    expect(answers).toMatchObject([{ kind: 'permission', allow: false, by: 'rule' }]);
  });
});
