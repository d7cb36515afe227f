// With real processes; every commit of a run is in seats.fault.test.ts.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { isExhaustive } from '../../faults/seats/seats.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { databaseKinds } from '../../support/databases.ts';
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
    'loses and repeats nothing, whichever commit was its last (committed: %s)',
    async (hasCommitted) => {
      for (let commit = 0; commit < 6; commit += isExhaustive ? 1 : 2) {
        const run = await legs.start('go');
        const deaths = [new Death(commit, hasCommitted), new Death(commit + 1, hasCommitted)];
        const doubts: string[] = [];
        const ended = await legs.finish(run, {
          deaths: [...deaths, new Death(commit, hasCommitted)],
          answer: (asked) => answerOf(asked, doubts),
        });
        const what = `commit ${commit}`;
        expect([what, outcomeIn(ended)]).toEqual([what, { status: 'completed' }]);
        expect([what, await legs.joined(run)]).toEqual([what, ended.outputText]);
        const effects = (await effectsOf(run)).trim().split('\n');
        expect([what, new Set(effects).size]).toEqual([what, effects.length]);
        if (doubts.length > 0) continue;
        expect([what, ended.outputText, effects]).toEqual([what, whole, ['refund 7', 'mail']]);
        expect([what, ended.usage]).toMatchObject([what, { inputTokens: 2, outputTokens: 3 }]);
      }
    },
    240_000,
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
