import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentRules } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Allower } from '../../../src/domain/rules/approvers.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import { readRules } from '../../../src/domain/rules/rule.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { scriptedHarness } from '../../../src/harness/scripted/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { databaseKinds } from '../../support/databases.ts';
import { atEverySeat } from '../../support/every-seat.ts';
import { Death, MortalLegs } from '../../support/mortal-legs.ts';

const approvers = { role: 'admin', people: 2 };
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
      const rules = readRules(
        agentRules.parse([{ name: 'two', tools: ['append_file'], effect: 'ask', approvers }]),
      );
      const agent = agentOf({ framework: 'scripted', settings: { script }, rules });
      const harness = scriptedHarness({ clock: systemClock });
      legs = await MortalLegs.open({ kind, agent, harness });
    });
    afterAll(() => legs.close());

    const contentOf = (run: Run) => {
      const file = join(legs.foldersOf(run).sessionFolder, input.path);
      return existsSync(file) ? readFileSync(file, 'utf8') : '';
    };

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
              isSkipped = contentOf(run) === '';
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
            const content = contentOf(run);
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
