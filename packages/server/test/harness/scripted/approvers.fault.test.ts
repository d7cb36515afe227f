import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Allower } from '../../../src/domain/rules/approvers.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import { databaseKinds } from '../../support/databases.ts';
import { atEverySeat } from '../../support/every-seat.ts';
import { Death, type MortalLegs } from '../../support/mortal-legs.ts';
import { contentOf, openMortalScript } from './mortal-script.ts';

const approvers = { role: 'admin', people: 2 } as const;
const input = { path: 'outputs/note', text: 'x' };
const script = [{ tool: { name: 'append_file', input } }, { say: 'Done.' }];
const person = (id: string): Allower => ({
  kind: 'person',
  id,
  role: 'admin',
  claimedRole: 'admin',
});

describe.each(databaseKinds)(
  'servers that die at any commit of a call for two people on %s',
  (kind) => {
    let legs: MortalLegs;
    beforeAll(async () => {
      legs = await openMortalScript(kind, {
        script,
        rules: [{ name: 'two', tools: ['append_file'], effect: 'ask', approvers }],
      });
    });
    afterAll(() => legs.close());

    test.each([true, false])(
      'ask one person after the other, and carry the call out once (committed: %s) (D-516)',
      async (hasCommitted) => {
        const seats = await atEverySeat(
          (commit) => new Death(commit, hasCommitted),
          async (seat, deaths) => {
            const run = await legs.start('go');
            const asked: string[] = [];
            let isSkipped = false;
            const answer = ({ kind: about }: { kind: string }) => {
              // A call in doubt that needs two people cannot be repeated by the answer to a question (D-520).
              if (about === 'permission') return { decision: 'allow' };
              isSkipped = contentOf(legs, run, input.path) === '';
              return { answer: (isSkipped ? doubtOptions.unknown : doubtOptions.done).label };
            };
            // The same person once more, who counts once.
            const people = ['usr_1', 'usr_1', 'usr_2'];
            const allowerOf = () => {
              const id = people[asked.length % people.length] ?? '';
              asked.push(id);
              return person(id);
            };
            const ended = await legs.finish(run, { deaths, answer, allowerOf });
            const log = await legs.world.logOf(run.id);
            const approved = log.filter(({ type }) => type === 'permission_approved');
            const allowed = log.filter(
              ({ type, data }) => type === 'permission_resolved' && data['decision'] === 'allow',
            );
            const content = contentOf(legs, run, input.path);
            expect([seat, ended.status, approved.length, allowed.length]).toEqual([
              seat,
              'completed',
              1,
              1,
            ]);
            expect([seat, content]).toEqual([seat, isSkipped ? '' : 'x']);
          },
        );
        expect(seats).toBeGreaterThan(3);
      },
      600_000,
    );
  },
);
