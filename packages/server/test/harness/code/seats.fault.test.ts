// Design of agents as code, §11.2: something happens to the worker of an agent as code at every commit of its run.
import { type Agent as Program, InDoubt, agent as programOf } from '@convoke/agent';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cancelRun } from '../../../src/app/runs/runs.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import { type Run, isEnded } from '../../../src/domain/run/run.ts';
import type { LegSupervisor } from '../../../src/execution/leg-supervisor.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { type DatabaseKind, databaseKinds } from '../../support/databases.ts';
import { atEverySeat } from '../../support/every-seat.ts';
import { type Asked, Death, Moment, MortalLegs } from '../../support/mortal-legs.ts';
import { inProcessHarness } from './in-process.ts';

const timeout = 600_000;
const whole = 'Looking. I think. Since late: r-1. ab Mailing. Run 1.';
const allEffects = ['mail', 'pack a', 'pack b', 'refund 7'];

/** What was carried out, by run. */
const effects = new Map<string, string[]>();
beforeEach(() => effects.clear());

/** Everything at which a worker can be lost. */
function clerk(): Program {
  return programOf<{ runs?: number }>(async (ctx) => {
    const note = (line: string) =>
      effects.set(ctx.runId, [...(effects.get(ctx.runId) ?? []), line]);
    const unlessInDoubt = async (work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof InDoubt)) throw error;
        ctx.say(`(${error.step}?) `);
      }
    };
    ctx.say('Looking. ');
    const order = await ctx.step('find', () => ({ id: 7 }), { repeatable: true });
    await ctx.stream('think', async function* () {
      yield 'I ';
      yield 'think. ';
    });
    const why = await ctx.ask('Why?', { options: ['late'] });
    ctx.say(`Since ${why}: `);
    await unlessInDoubt(async () => {
      const refund = await ctx.approve('refund', { order: order.id }, ({ input }) => {
        note(`refund ${input.order}`);
        return 'r-1';
      });
      ctx.say(refund.allowed ? `${refund.value}. ` : 'no. ');
    });
    ctx.usage({ inputTokens: 2, outputTokens: 3 });
    const packed = ['a', 'b'].map((name) =>
      unlessInDoubt(() => ctx.step(`pack ${name}`, () => note(`pack ${name}`) && undefined)),
    );
    await Promise.all(packed);
    ctx.say('ab ');
    await unlessInDoubt(() =>
      ctx.step('mail', () => {
        ctx.say('Mailing. ');
        note('mail');
      }),
    );
    ctx.state.runs = (ctx.state.runs ?? 0) + 1;
    return `Run ${ctx.state.runs}.`;
  });
}

const recovery = { ...agentOf({}).recovery, attempts: 20 };
const agent = agentOf({
  framework: 'code',
  folder: import.meta.dirname,
  recovery,
  settings: { entry: 'clerk.ts' },
});

function useLegs(kind: DatabaseKind): () => MortalLegs {
  let legs: MortalLegs;
  beforeAll(async () => {
    legs = await MortalLegs.open({ kind, agent, harness: inProcessHarness(clerk) });
  });
  afterAll(() => legs.close());
  return () => legs;
}

/** A person who looks what was carried out before saying so. */
function truthful(run: Run, doubts: string[]) {
  return ({ requestId, kind }: Asked) => {
    if (!requestId.startsWith('in-doubt:')) {
      return kind === 'permission' ? { decision: 'allow' } : { answer: 'late' };
    }
    const step = requestId.slice('in-doubt:'.length);
    const isDone = (effects.get(run.id) ?? []).some((line) =>
      step.startsWith(line.split(' 7')[0] ?? ''),
    );
    doubts.push(isDone ? 'done' : 'not done');
    return { answer: isDone ? doubtOptions.done.label : doubtOptions.again.label };
  };
}

const effectsOf = (run: Run) => (effects.get(run.id) ?? []).toSorted((a, b) => a.localeCompare(b));

describe.each(databaseKinds)('on %s, a worker that dies under an agent as code', (kind) => {
  const legs = useLegs(kind);

  test.each([true, false])(
    'at any commit repeats nothing and loses nothing, and every doubt has the right answer (committed: %s)',
    { timeout },
    async (hasCommitted) => {
      const readings = new Set<string>();
      const seats = await atEverySeat(
        (commit) => new Death(commit, hasCommitted),
        async (seat, deaths) => {
          const doubts: string[] = [];
          const run = await legs().start('go');
          const ended = await legs().finish(run, { deaths, answer: truthful(run, doubts) });
          expect([seat, ended.status, effectsOf(run)]).toEqual([seat, 'completed', allEffects]);
          expect([seat, await legs().joined(run)]).toEqual([seat, ended.outputText]);
          expect([seat, ended.usage]).toMatchObject([seat, { inputTokens: 2, outputTokens: 3 }]);
          for (const reading of doubts) readings.add(reading);
          if (doubts.includes('done')) return;
          // Also for a reader that knows no interruptions (D-473).
          expect([seat, ended.outputText, await legs().plain(run)]).toEqual([seat, whole, whole]);
        },
      );
      expect(seats).toBeGreaterThan(15);
      // Lost behind the intent it was not done; lost before its result it was.
      expect([...readings]).toContain(hasCommitted ? 'not done' : 'done');
    },
  );
});

describe.each(databaseKinds)('on %s, at any commit of an agent as code', (kind) => {
  const legs = useLegs(kind);

  test('a drain hands the run over: no word is repeated, and nothing is in doubt', {
    timeout,
  }, async () => {
    const seats = await atEverySeat(
      (commit) => new Moment(commit, (leg) => leg.yield()),
      async (seat, deaths) => {
        const doubts: string[] = [];
        const run = await legs().start('go');
        const ended = await legs().finish(run, { deaths, answer: truthful(run, doubts) });
        expect([seat, ended.status, effectsOf(run), doubts, ended.lossesTotal]).toEqual([
          seat,
          'completed',
          allEffects,
          [],
          0,
        ]);
        expect([seat, ended.outputText, await legs().plain(run)]).toEqual([seat, whole, whole]);
        expect([seat, ended.usage]).toMatchObject([seat, { inputTokens: 2, outputTokens: 3 }]);
      },
    );
    expect(seats).toBeGreaterThan(15);
  });

  test.each([
    [
      'a drain that is cut',
      (leg: LegSupervisor) => {
        leg.yield();
        // Resolves when the leg is over, which waits for this commit.
        leg.cut().catch(() => undefined);
      },
    ],
    ['the loss of the lease', (leg: LegSupervisor) => leg.lose()],
  ])('%s repeats nothing', { timeout }, async (_what, act) => {
    const seats = await atEverySeat(
      (commit) => new Moment(commit, act),
      async (seat, deaths) => {
        const doubts: string[] = [];
        const run = await legs().start('go');
        const ended = await legs().finish(run, { deaths, answer: truthful(run, doubts) });
        expect([seat, ended.status, effectsOf(run)]).toEqual([seat, 'completed', allEffects]);
        expect([seat, await legs().joined(run)]).toEqual([seat, ended.outputText]);
        if (doubts.includes('done')) return;
        expect([seat, ended.outputText, await legs().plain(run)]).toEqual([seat, whole, whole]);
      },
    );
    expect(seats).toBeGreaterThan(15);
  });

  test('a cancel ends the run, and at most the steps that had begun are carried out after it', {
    timeout,
  }, async () => {
    let run: Run;
    let before: readonly string[] | undefined;
    const seats = await atEverySeat(
      (commit) =>
        new Moment(commit, async (leg) => {
          const { world } = legs();
          if (isEnded(await world.read(run))) return;
          before = effectsOf(run);
          await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
          leg.checkControl();
        }),
      async (seat, deaths) => {
        before = undefined;
        run = await legs().start('go');
        const ended = await legs().finish(run, { deaths, answer: truthful(run, []) });
        if (before === undefined) return expect([seat, ended.outputText]).toEqual([seat, whole]);
        const later = effectsOf(run).filter((line) => before?.includes(line) === false);
        expect([seat, ended.status, new Set(effectsOf(run)).size]).toEqual([
          seat,
          'cancelled',
          effectsOf(run).length,
        ]);
        // Two steps run at once.
        expect([seat, later.length <= 2]).toEqual([seat, true]);
        expect([seat, await legs().joined(run)]).toEqual([seat, ended.outputText]);
      },
    );
    expect(seats).toBeGreaterThan(15);
  });
});
