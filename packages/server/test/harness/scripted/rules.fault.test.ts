import type { AgentRule } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/domain/json.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { databaseKinds } from '../../support/databases.ts';
import { atEverySeat } from '../../support/every-seat.ts';
import { Death, type MortalLegs } from '../../support/mortal-legs.ts';
import { contentOf, openMortalScript } from './mortal-script.ts';

const append = (path: string): Json => ({
  tool: { name: 'append_file', input: { path, text: 'x' } },
});
const rule = (name: string, effect: AgentRule['effect']) => ({
  name,
  effect,
  tools: ['append_file'],
  when: [{ path: '/path', eq: `outputs/${name}` }],
});

describe.each(databaseKinds)(
  'a worker that dies at any commit of calls with rules on %s',
  (kind) => {
    let legs: MortalLegs;
    beforeAll(async () => {
      const script = ['free', 'allowed', 'asked', 'denied', 'never'].map((each) =>
        append(`outputs/${each}`),
      );
      const rules = [rule('allowed', 'allow'), rule('asked', 'ask'), rule('denied', 'deny')];
      legs = await openMortalScript(kind, { script, rules });
    });
    afterAll(() => legs.close());

    test.each([true, false])(
      'carries out no call without its decision, none twice, and no denial is lost (committed: %s)',
      async (hasCommitted) => {
        const seats = await atEverySeat(
          (commit) => new Death(commit, hasCommitted),
          async (seat, deaths) => {
            const run = await legs.start('go');
            const ended = await legs.finish(run, { deaths, answer: answerOf(run) });
            expect([seat, ended.status, await outcomeOf(run)]).toEqual([seat, 'completed', whole]);
          },
        );
        expect(seats).toBeGreaterThan(5);
      },
      600_000,
    );

    /** A person who looks at the file before they say whether a call was carried out. */
    function answerOf(run: Run) {
      return ({ requestId, kind: asked }: { requestId: string; kind: string }) => {
        if (asked === 'permission') return { decision: 'allow' };
        const step = Number(/step-(\d)/.exec(requestId)?.[1]);
        const name = ['free', 'allowed', 'asked', 'denied', 'never'][step] ?? '';
        const isDone = outputOf(run, name) !== '';
        return { answer: (isDone ? doubtOptions.done : doubtOptions.again).label };
      };
    }

    const outputOf = (run: Run, name: string) => contentOf(legs, run, `outputs/${name}`);

    const whole = {
      files: ['x', 'x', 'x', '', ''],
      begun: ['step-0', 'step-1', 'step-2'],
      denials: ['step-3'],
      decided: ['denied deny'],
      asked: ['step-2'],
    };

    async function outcomeOf(run: Run) {
      const { interactions, toolCalls } = legs.world.store.read;
      const answered = await interactions.answered(run.id);
      const log = await legs.world.logOf(run.id);
      const decided = log.flatMap(({ type, data }) => {
        const [named] = (data['rules'] ?? []) as readonly { readonly name: string }[];
        return type === 'call_decided' ? [`${named?.name ?? ''} ${String(data['effect'])}`] : [];
      });
      const requests = log.filter(
        ({ type, data }) => type === 'permission_request' && data['replayed'] !== true,
      );
      return {
        files: ['free', 'allowed', 'asked', 'denied', 'never'].map((name) => outputOf(run, name)),
        begun: (await toolCalls.ofRun(run.id)).map(({ ref }) => ref),
        denials: answered.flatMap((each) => ('decidedBy' in each ? [each.requestId] : [])),
        // A call that is carried out once more is decided once more.
        decided: decided.filter((each) => each !== 'allowed allow'),
        asked: requests.map(({ data }) => data['request_id']),
      };
    }
  },
);
