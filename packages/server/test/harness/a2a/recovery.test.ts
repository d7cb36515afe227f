import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import { a2aHarness } from '../../../src/harness/a2a/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, recordingLog } from '../../support/agent-folders.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type Asked, Death, MortalLegs } from '../../support/mortal-legs.ts';
import { Sitting } from '../sittings.ts';
import { A2aServer, type Step } from './agent.ts';

const { done, again } = doubtOptions;
const steps = (...list: readonly Step[]) => JSON.stringify(list);
const play = steps({ say: 'one two ' }, { ask: 'Which?' }, { sayAnswer: true }, { say: '.' });
const whole = 'one two You said blue.';

const server = await A2aServer.start();
const opened: MortalLegs[] = [];
afterAll(async () => {
  await Promise.all(opened.map((legs) => legs.close()));
  await server.close();
});

function harnessOf({ url }: A2aServer) {
  const allow = [new URL(url).host];
  return a2aHarness({ allow, clock: systemClock, log: recordingLog() });
}

async function open(
  kind: (typeof databaseKinds)[number],
  repeatableTools: readonly string[] = [],
): Promise<MortalLegs> {
  const recovery = {
    onLoss: 'resume',
    attempts: 3,
    inDoubt: 'ask',
    repeatableTools,
    cutMessage: 'continue',
  } as const;
  const agent = agentOf({ framework: 'a2a', recovery, settings: { url: server.url } });
  const legs = await MortalLegs.open({ kind, agent, harness: harnessOf(server) });
  opened.push(legs);
  return legs;
}

const sent = () => server.calls.filter((method) => method === 'SendStreamingMessage').length;

describe.each(databaseKinds)('on %s, a worker that dies under a remote task', (kind) => {
  let legs: MortalLegs;
  beforeAll(async () => {
    legs = await open(kind);
  });

  /** Lets the worker of one leg die: of the prompt, or of the answer. */
  async function survives(leg: number, death: Death): Promise<void> {
    const run = await legs.start(play);
    const before = sent();
    const deaths = [...Array.from({ length: leg }, () => new Death()), death];
    const expected = { 'in-doubt:message-1': 1, 'in-doubt:message-2': 2 } as const;
    const answer = ({ requestId }: Asked) => {
      const messages = requestId in expected && expected[requestId as keyof typeof expected];
      if (messages === false) return { answer: 'blue' };
      // The person asks at the other end whether the message arrived.
      return { answer: sent() - before < messages ? again.label : done.label };
    };
    const ended = await legs.finish(run, { deaths, answer });
    // Joined by a reader that knows no interruption: no word is said twice.
    const text = await legs.plain(run);
    expect(text).toBe(ended.outputText ?? '');
    expect(sent() - before).toBeLessThanOrEqual(2);
    if (ended.status === 'completed') expect(text).toBe(whole);
    else
      expect(ended).toMatchObject({
        error: { message: expect.stringMatching('task is not known') },
      });
    expect(server.calls).not.toContain('CancelTask');
  }

  test.each([0, 1])(
    'at any commit of leg %i sends no message twice and repeats no word (D-80)',
    async (leg) => {
      let commits = 0;
      for (const hasCommitted of [false, true]) {
        for (let commit = 0; ; commit += 1) {
          const death = new Death(commit, hasCommitted);
          await survives(leg, death);
          if (!death.isDead) break;
          commits += 1;
        }
      }
      expect(commits).toBeGreaterThan(0);
    },
  );
});

test('an agent that recognizes its messages is sent a doubtful one again, without a question', async () => {
  const legs = await open('sqlite', ['message']);
  const run = await legs.start(steps({ say: 'one' }));
  await legs.execute(run, new Death(1, true));
  await legs.recover();
  const asked: string[] = [];
  const answer = ({ requestId }: Asked) => {
    asked.push(requestId);
    return { answer: done.label };
  };
  const ended = await legs.finish(run, { answer });
  expect([ended.status, ended.outputText, asked]).toEqual(['completed', 'one', []]);
});

describe('when its server stops', () => {
  async function sit() {
    const remote = await A2aServer.start();
    onTestFinished(() => remote.close());
    const agent = agentOf({ framework: 'a2a', settings: { url: remote.url } });
    const place = { sessionFolder: '/nonexistent', stateDir: '/nonexistent' };
    const sitting = new Sitting(harnessOf(remote), { name: 'yield', agent, ...place });
    return { remote, sitting };
  }

  test('a leg hands its run over at once, and the next follows the same task (D-85)', async () => {
    const { remote, sitting } = await sit();
    const leg = sitting.start(steps({ say: 'one ' }, { hold: true }, { say: 'two' }));
    const first = await sitting.hear(leg, {
      onEvent: ({ type }) => type === 'message_delta' && leg.yield?.(),
    });
    expect(first.end).toEqual({ type: 'end', outcome: 'yielded' });
    remote.released.resolve();
    const second = await sitting.hear(sitting.goOn());
    expect(second.end).toMatchObject({ outcome: 'completed' });
    expect(first.text + second.text).toBe('one two');
    const methods = remote.calls.filter((method) => method !== 'SubscribeToTask');
    expect(methods.slice(0, 2)).toEqual(['SendStreamingMessage', 'GetTask']);
    expect(remote.calls).not.toContain('CancelTask');
  });

  test('a cancel wins over the hand-over (D-94)', async () => {
    const { remote, sitting } = await sit();
    const leg = sitting.start(steps({ work: true }));
    const { end } = await sitting.hear(leg, {
      onEvent: async ({ type }) => {
        if (type !== 'message_delta') return;
        const cancelled = sitting.cancel(leg);
        await leg.yield?.();
        await cancelled;
      },
    });
    expect(end).toMatchObject({ outcome: 'cancelled' });
    expect(remote.calls).toContain('CancelTask');
  });
});
