// Rules decide about the steps of an agent as code while its workers die at every commit (D-507, D-510).
import { type Agent as Program, Denied, InDoubt, agent as programOf } from '@convoke/agent';
import { agentRules } from '@convoke/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import { readRules } from '../../../src/domain/rules/rule.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { databaseKinds } from '../../support/databases.ts';
import { atEverySeat } from '../../support/every-seat.ts';
import { type Asked, Death, MortalLegs, Moment } from '../../support/mortal-legs.ts';
import { inProcessHarness } from './in-process.ts';

const timeout = 600_000;
const never = 'Not allowed by the rule no-production of the agent: Never.';
const whole = `20 80 ${never} ${never} end`;

/** What was carried out, by run. */
const effects = new Map<string, string[]>();
beforeEach(() => effects.clear());

/** Steps that are allowed, asked about and denied, and an approval that is denied. */
function clerk(): Program {
  return programOf(async (ctx) => {
    const note = (line: string) =>
      effects.set(ctx.runId, [...(effects.get(ctx.runId) ?? []), line]);
    const refund = async (amount: number) => {
      const input = { amount };
      try {
        await ctx.step('refund', () => note(`refund ${amount}`) && undefined, { input });
      } catch (error) {
        if (!(error instanceof InDoubt)) throw error;
      }
      ctx.say(`${amount} `);
    };
    await refund(20);
    await refund(80);
    try {
      await ctx.step('db/drop', () => note('drop'), { input: { database: 'prod-1' } });
    } catch (error) {
      if (!(error instanceof Denied)) throw error;
      ctx.say(`${error.reason ?? ''} `);
    }
    const drop = await ctx.approve('db/drop', { database: 'prod-2' }, () => note('drop'));
    return `${drop.allowed ? '' : drop.reason} end`;
  });
}

const rules = readRules(
  agentRules.parse([
    { name: 'small', tools: ['refund'], when: [{ path: '/amount', lte: 50 }], effect: 'allow' },
    { name: 'refunds', tools: ['refund'], effect: 'ask' },
    {
      name: 'no-production',
      tools: ['db/*'],
      when: [{ path: '/database', like: 'prod*' }],
      effect: 'deny',
      reason: 'Never.',
    },
  ]),
);
const agent = agentOf({
  framework: 'code',
  folder: import.meta.dirname,
  recovery: { ...agentOf({}).recovery, attempts: 20 },
  rules,
  settings: { entry: 'clerk.ts' },
});

/** A person who looks what was carried out before saying so. */
function truthful(run: Run) {
  return ({ requestId, kind }: Asked) => {
    if (kind === 'permission') return { decision: 'allow' };
    const isFirst = requestId === 'in-doubt:refund';
    const line = isFirst ? 'refund 20' : 'refund 80';
    const isDone = (effects.get(run.id) ?? []).includes(line);
    return { answer: isDone ? doubtOptions.done.label : doubtOptions.again.label };
  };
}

describe.each(databaseKinds)('on %s', (kind) => {
  let legs: MortalLegs;
  beforeAll(async () => {
    legs = await MortalLegs.open({ kind, agent, harness: inProcessHarness(clerk) });
  });
  afterAll(() => legs.close());

  test.each([
    ['a worker dies behind', (commit: number) => new Death(commit, true)],
    ['a worker dies before', (commit: number) => new Death(commit, false)],
    ['a run is handed over at', (commit: number) => new Moment(commit, (leg) => leg.yield())],
  ])(
    'where %s a commit, no rule is passed by and no denial is forgotten',
    { timeout },
    async (_what, fateAt) => {
      const seats = await atEverySeat(fateAt, async (seat, fates) => {
        const run = await legs.start('go');
        const ended = await legs.finish(run, { deaths: fates, answer: truthful(run) });
        expect([seat, ended.status, ended.outputText]).toEqual([seat, 'completed', whole]);
        expect([seat, effects.get(run.id)]).toEqual([seat, ['refund 20', 'refund 80']]);
        const { interactions } = legs.world.store.read;
        const asked = await interactions.findByRequest(run.id, 'refund#2');
        expect([seat, asked]).toMatchObject([seat, { answer: { decision: 'allow' } }]);
        const denied = await interactions.findByRequest(run.id, 'db/drop');
        expect([seat, denied]).toMatchObject([
          seat,
          { answeredBy: null, decidedBy: 'rule', answer: { decision: 'deny', message: never } },
        ]);
      });
      // Events that are emitted during a commit share the next one. These cannot: begin and end of both refunds, the
      // request, the denial, and the end of the run.
      expect(seats).toBeGreaterThanOrEqual(7);
    },
  );
});
