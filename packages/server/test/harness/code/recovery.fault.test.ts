// Workers die with real processes of real programs. What else can happen to a worker is in seats.fault.test.ts.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { databaseKinds } from '../../support/databases.ts';
import { atEverySeat } from '../../support/every-seat.ts';
import { type Asked, Death, MortalLegs } from '../../support/mortal-legs.ts';
import type { OpenStdio } from '../stdio/leg.ts';
import { openCode } from './open-code.ts';

const folder = dirname(fileURLToPath(import.meta.url));
const recovery = { ...agentOf({}).recovery, attempts: 20 };
const whole = 'Looking. I think. Since late: r-1. Mailing. Run 1.';

const clerks = ['clerk.ts', 'clerk.py', 'async_clerk.py'].flatMap((entry) =>
  databaseKinds.map((kind) => ({ kind, entry })),
);

describe.each(clerks)('on $kind, a worker that dies under $entry', ({ kind, entry }) => {
  let legs: MortalLegs;
  let code: OpenStdio;
  beforeAll(async () => {
    requireSandbox();
    code = await openCode();
    const { harness, sandbox } = code;
    const agent = agentOf({ framework: 'code', folder, recovery, settings: { entry } });
    legs = await MortalLegs.open({ kind, agent, harness, account: sandbox.account });
  });
  afterAll(async () => {
    await code.close();
    await legs.close();
  });

  const effectsOf = (run: Run) =>
    readFile(join(legs.foldersOf(run).sessionFolder, 'effects.txt'), 'utf8').catch(() => '');

  test.each([true, false])(
    'at any commit loses and repeats nothing (committed: %s)',
    async (hasCommitted) => {
      const seats = await atEverySeat(
        (commit) => new Death(commit, hasCommitted),
        async (seat, deaths) => {
          const run = await legs.start('go');
          const doubts: string[] = [];
          const ended = await legs.finish(run, {
            // The worker that takes the run over dies, too.
            deaths: [...deaths, new Death(1, hasCommitted)],
            answer: (asked) => answerOf(asked, doubts),
          });
          expect([seat, outcomeIn(ended)]).toEqual([seat, { status: 'completed' }]);
          expect([seat, await legs.joined(run)]).toEqual([seat, ended.outputText]);
          const effects = (await effectsOf(run)).trim().split('\n');
          expect([seat, new Set(effects).size]).toEqual([seat, effects.length]);
          if (doubts.length > 0) return;
          expect([seat, ended.outputText, effects]).toEqual([seat, whole, ['refund 7', 'mail']]);
          expect([seat, await legs.plain(run)]).toEqual([seat, whole]);
          expect([seat, ended.usage]).toMatchObject([seat, { inputTokens: 2, outputTokens: 3 }]);
        },
      );
      expect(seats).toBeGreaterThan(10);
    },
    600_000,
  );
});

function outcomeIn(run: Run) {
  return run.status === 'failed' ? { status: run.status, ...run.error } : { status: run.status };
}

/** A call in doubt is said to be done: the program hears it. */
function answerOf({ requestId, kind }: Asked, doubts: string[]) {
  if (requestId.startsWith('in-doubt:')) {
    doubts.push(requestId);
    return { answer: doubtOptions.done.label };
  }
  return kind === 'permission' ? { decision: 'allow' } : { answer: 'late' };
}
