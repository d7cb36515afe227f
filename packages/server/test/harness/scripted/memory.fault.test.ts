import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { databaseKinds } from '../../support/databases.ts';
import { atEverySeat } from '../../support/every-seat.ts';
import { Death, type MortalLegs } from '../../support/mortal-legs.ts';
import { contentOf, openMortalScript } from './mortal-script.ts';

const names = ['first', 'second', 'third'];

describe.each(databaseKinds)(
  'a worker that dies at any commit of remembered calls on %s',
  (kind) => {
    let legs: MortalLegs;
    beforeAll(async () => {
      const script = names.map((name) => ({
        tool: { name: 'append_file', input: { path: `outputs/${name}`, text: 'x' } },
      }));
      legs = await openMortalScript(kind, {
        script,
        rules: [{ name: 'files', tools: ['append_file'], effect: 'ask', remember: 'tool' }],
      });
    });
    afterAll(() => legs.close());

    const outputOf = (run: Run, name: string) => contentOf(legs, run, `outputs/${name}`);

    test.each([true, false])(
      'asks once, and carries out each call once (committed: %s) (D-521)',
      async (hasCommitted) => {
        const seats = await atEverySeat(
          (commit) => new Death(commit, hasCommitted),
          async (seat, deaths) => {
            const run = await legs.start('go');
            const answer = ({ requestId, kind: asked }: { requestId: string; kind: string }) => {
              if (asked === 'permission') return { decision: 'allow', remember: 'tool' };
              const name = names[Number(/step-(\d)/.exec(requestId)?.[1])] ?? '';
              const { done, again } = doubtOptions;
              return { answer: (outputOf(run, name) === '' ? again : done).label };
            };
            const ended = await legs.finish(run, { deaths, answer });
            const asked = (await legs.world.logOf(run.id)).filter(
              ({ type, data }) => type === 'permission_request' && data['replayed'] !== true,
            );
            const files = names.map((name) => outputOf(run, name));
            expect([seat, ended.status, asked.length, files]).toEqual([
              seat,
              'completed',
              1,
              ['x', 'x', 'x'],
            ]);
          },
        );
        expect(seats).toBeGreaterThan(5);
      },
      600_000,
    );
  },
);
