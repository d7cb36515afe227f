import type { AgentRule } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { databaseKinds } from '../../support/databases.ts';
import { atEverySeat } from '../../support/every-seat.ts';
import { Death, type MortalLegs } from '../../support/mortal-legs.ts';
import { contentOf, openMortalScript } from './mortal-script.ts';

const append = (path: string) => ({ tool: { name: 'append_file', input: { path, text: 'x' } } });

describe.each(databaseKinds)(
  'a worker that dies at any commit of a request that no person answers on %s (D-522)',
  (kind) => {
    let legs: MortalLegs;
    beforeAll(async () => {
      const script = [append('outputs/free'), append('outputs/asked')];
      const rule: AgentRule = {
        name: 'ask',
        effect: 'ask',
        tools: ['append_file'],
        when: [{ path: '/path', eq: 'outputs/asked' }],
        wait_hours: 1,
        on_expiry: 'deny',
      };
      legs = await openMortalScript(kind, { script, rules: [rule] });
    });
    afterAll(() => legs.close());

    test.each([true, false])(
      'denies the call once, and the agent is told (committed: %s)',
      async (hasCommitted) => {
        const seats = await atEverySeat(
          (commit) => new Death(commit, hasCommitted),
          async (seat, deaths) => {
            const run = await legs.start('go');
            const ended = await legs.finish(run, {
              deaths,
              answer: ({ kind: asked }) =>
                asked === 'permission' ? undefined : { answer: answerAbout(run) },
            });
            expect([seat, ended.status, await outcomeOf(run)]).toEqual([seat, 'completed', whole]);
          },
        );
        expect(seats).toBeGreaterThan(3);
      },
      600_000,
    );

    const has = (run: Run, name: string) => contentOf(legs, run, `outputs/${name}`) !== '';

    /** Only the call that is free of rules can be in doubt. */
    const answerAbout = (run: Run) =>
      (has(run, 'free') ? doubtOptions.done : doubtOptions.again).label;

    const denial = { decision: 'deny', by: 'expiry' };
    const whole = {
      files: [true, false],
      resolved: [denial],
      stored: ['expired'],
      begun: ['step-0'],
    };

    async function outcomeOf(run: Run) {
      const { interactions, toolCalls } = legs.world.store.read;
      const log = await legs.world.logOf(run.id);
      const asked = await interactions.findByRequest(run.id, 'step-1');
      return {
        files: [has(run, 'free'), has(run, 'asked')],
        resolved: log.flatMap(({ type, data: { decision, by } }) =>
          type === 'permission_resolved' ? [{ decision, by }] : [],
        ),
        stored: [asked?.status],
        begun: (await toolCalls.ofRun(run.id)).map(({ ref }) => ref),
      };
    }
  },
);
