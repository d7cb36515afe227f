import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Agent } from '../../../src/domain/agent.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type CallMoment, startEffectServer } from '../../support/effect-server.ts';
import { until } from '../../support/eventually.ts';
import { type Asked, Death, MortalLegs } from '../../support/mortal-legs.ts';
import { AiSdkPlace, type Dialect, dialects } from './agent.ts';

const place = await AiSdkPlace.open();
const outside = await startEffectServer();
const opened: MortalLegs[] = [];
afterAll(async () => {
  outside.close();
  await Promise.all(opened.map((legs) => legs.close()));
  await place.close();
});
beforeEach(() => {
  outside.onMoment = () => {};
});

const { done, again } = doubtOptions;
const whole = 'Paying.\n\nPaid.';

interface Kind {
  readonly tool: 'pay' | 'put';
  readonly isApproved: boolean;
  /** Whether the agent trusts what the MCP server says about its tools. */
  readonly isTrusted: boolean;
  /** Whether a person is asked about a call that may have been carried out. */
  readonly isAsked: boolean;
}
const kinds: Readonly<Record<string, Kind>> = {
  'a call that is not repeatable': {
    tool: 'pay',
    isApproved: false,
    isTrusted: true,
    isAsked: true,
  },
  'a repeatable call': { tool: 'put', isApproved: false, isTrusted: true, isAsked: false },
  'an approved call': { tool: 'put', isApproved: true, isTrusted: true, isAsked: true },
};

async function open(database: (typeof databaseKinds)[number], kind: Kind): Promise<MortalLegs> {
  const approvalRequiredTools = kind.isApproved ? ['effects/*'] : [];
  const effects = { url: outside.url, trust_annotations: kind.isTrusted };
  const agent = place.agent({ approvalRequiredTools, settings: { mcp_servers: { effects } } });
  const legs = await MortalLegs.open({ kind: database, agent, harness: place.harness() });
  opened.push(legs);
  return legs;
}

const play = ({ tool }: Kind) => `@@ say Paying. && call effects__${tool} {"n":1} ;; say Paid.`;

describe.each(databaseKinds)('on %s, a worker that dies', (database) => {
  describe.each(Object.entries(kinds))('under %s', (_, kind) => {
    let legs: MortalLegs;
    beforeAll(async () => {
      legs = await open(database, kind);
    });

    /** Lets the workers of one run die and checks the promises of D-80 and D-87. */
    async function survives(deaths: readonly Death[]): Promise<void> {
      const run = await legs.start(play(kind));
      const questions: string[] = [];
      const before = outside.effects.length;
      // How often the call was carried out, as the world outside counts it.
      const count = () => outside.effects.length - before;
      const answer = ({ kind: asked, requestId }: Asked) => {
        if (asked === 'permission') return { decision: 'allow' };
        questions.push(requestId);
        // The person looks at the world outside before answering.
        return { answer: count() === 0 ? again.label : done.label };
      };
      const ended = await legs.finish(run, { deaths, answer });
      expect(ended).toMatchObject({ status: 'completed', outputText: whole });
      // Joined by a reader that knows no interruption: no word is said twice.
      expect(await legs.plain(run)).toBe(whole);
      expect(outside.effects.at(-1)?.key).toBe(`${run.id}.call-1-1`);
      if (kind.isAsked) expect(count()).toBe(1);
      else expect([questions, count() > 0]).toEqual([[], true]);
    }

    test('at any commit repeats no word and no effect (D-80, D-89)', async () => {
      for (const hasCommitted of [false, true]) {
        let commits = 0;
        for (let commit = 0; ; commit += 1) {
          const death = new Death(commit, hasCommitted);
          // A run that needs an approval has a second leg, which carries the call out.
          await survives(kind.isApproved ? [new Death(), death] : [death]);
          if (!death.isDead) break;
          commits += 1;
        }
        expect(commits).toBeGreaterThan(0);
      }
    });

    test.each<CallMoment>(['before the effect', 'after the effect'])(
      'inside the call, %s, leaves it in doubt unless it may be repeated (D-83)',
      async (moment) => {
        const death = new Death();
        outside.onMoment = async (now) => {
          if (now !== moment || death.isDead) return;
          death.die();
          await new Promise((resolve) => setImmediate(resolve));
        };
        await survives(kind.isApproved ? [new Death(), death] : [death]);
        expect(death.isDead).toBe(true);
      },
    );
  });
});

test('a message that was cut has used what is not known, and a call has not (D-97)', async () => {
  const kind = { tool: 'pay', isApproved: false, isTrusted: false, isAsked: true } as const;
  const legs = await open('sqlite', kind);
  const inCall = await lostInCall(legs, '@@ call effects__pay {} ;; say Paid.');
  const answer = () => ({ answer: done.label });
  const exact = await legs.finish(inCall, { answer });
  expect(exact).toMatchObject({ usage: { inputTokens: 200 }, isUsagePartial: false });
  const cut = await legs.start('@@ say Half of a sentence && slow 2 1');
  await legs.execute(cut, new Death(1));
  expect(await legs.finish(cut, { answer })).toMatchObject({
    usage: { inputTokens: 100, outputTokens: 10 },
    isUsagePartial: true,
  });
});

describe('a worker that dies in the middle of a message', () => {
  const next = '&& call write_file {"path":"a.txt","text":"1"} ;; say Done.';
  const half = 'One two';
  const answer = () => ({ answer: 'none' });

  /** Lets the worker die when the model has said half of its message and goes no further. */
  async function lostInMessage(agent: Agent, script: string) {
    const legs = await MortalLegs.open({ kind: 'sqlite', agent, harness: place.harness() });
    opened.push(legs);
    const run = await legs.start(`@@ ${script} ${next}`);
    const death = new Death();
    const dying = legs.execute(run, death);
    await until(async () => (await legs.plain(run)) === half, { what: 'half of the message' });
    death.die();
    await dying;
    const ended = await legs.finish(run, { answer });
    const { checkpoint } = await legs.world.store.read.sessions.state(run.sessionId);
    return { legs, run, ended, memory: checkpoint };
  }

  test.each(Object.keys(dialects) as Dialect[])(
    'has the model continue it, and no word is said twice: %s',
    async (dialect) => {
      const script = `say ${half} && hang && say , three.`;
      const { legs, run, ended, memory } = await lostInMessage(place.agent({ dialect }), script);
      const answered = 'One two, three.\n\nDone.';
      expect(ended).toMatchObject({ status: 'completed', outputText: answered });
      expect(await legs.plain(run)).toBe(answered);
      // The next run sees one message, and not that it was cut.
      expect(memory).toContain('"One two, three."');
      expect(memory).not.toContain('cut off');
      expect(ended.isUsagePartial).toBe(true);
    },
  );

  test('swallows the beginning that the model says again', async () => {
    const script = `say ${half} && hang && say , three. && restart`;
    const { legs, run, ended, memory } = await lostInMessage(place.agent(), script);
    expect(ended.outputText).toBe('One two, three.\n\nDone.');
    expect(await legs.plain(run)).toBe(ended.outputText);
    expect(memory).toContain('"One two, three."');
  });

  test('with cut_message: again, has the model answer again', async () => {
    const script = `say ${half} && slow 1 1`;
    const { recovery } = place.agent();
    const agent = place.agent({ recovery: { ...recovery, cutMessage: 'again' } });
    const legs = await MortalLegs.open({ kind: 'sqlite', agent, harness: place.harness() });
    opened.push(legs);
    const run = await legs.start(`@@ ${script}`);
    await legs.execute(run, new Death(1, true));
    const ended = await legs.finish(run, { answer });
    expect(ended.outputText).toBe('One twotick 1 ');
    expect(await legs.joined(run)).toBe(ended.outputText);
    const asked = place.modelServer.log.requests.slice(-1);
    expect(JSON.stringify(asked)).not.toContain('cut off');
  });
});

/** Lets a worker die inside its call and returns how its run went on. */
async function lostInCall(legs: MortalLegs, prompt: string) {
  const death = new Death();
  outside.onMoment = () => death.die();
  const run = await legs.start(prompt);
  await legs.execute(run, death);
  await legs.recover();
  return legs.world.read(run);
}

test('what a server says about its tools does not count unless the agent trusts it (D-81)', async () => {
  const prompt = '@@ say Paying. && call effects__put {} ;; say Paid.';
  for (const isTrusted of [false, true]) {
    const legs = await open('sqlite', { tool: 'put', isApproved: false, isTrusted, isAsked: true });
    const run = await lostInCall(legs, prompt);
    expect(run.status).toBe(isTrusted ? 'running' : 'waiting');
  }
});

test('an answer that is none of the options reaches the model, and repeats nothing (D-84)', async () => {
  const legs = await open('sqlite', {
    tool: 'pay',
    isApproved: false,
    isTrusted: false,
    isAsked: true,
  });
  const before = outside.effects.length;
  const run = await lostInCall(legs, '@@ call effects__pay {} ;; last');
  const ended = await legs.finish(run, { answer: () => ({ answer: 'ask the bank' }) });
  expect(ended.outputText).toBe('tool said: ask the bank');
  expect(outside.effects.length - before).toBe(1);
});

test('calls that ended before the loss keep their results, and those never begun are run (D-89)', async () => {
  const legs = await open('sqlite', {
    tool: 'pay',
    isApproved: false,
    isTrusted: false,
    isAsked: true,
  });
  const calls = Array.from({ length: 6 }, () => 'call effects__pay {}').join(' && ');
  const before = outside.effects.length;
  const death = new Death();
  // The fifth call begins when one of the first four has ended.
  outside.onMoment = (moment) => {
    const isFifth = outside.effects.length - before === 4;
    if (moment === 'before the effect' && isFifth) death.die();
  };
  const run = await legs.start(`@@ ${calls} ;; last`);
  await legs.execute(run, death);
  outside.onMoment = () => {};
  const ended = await legs.finish(run, { answer: () => ({ answer: done.label }) });
  const keys = outside.effects.slice(before).map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  expect(ended.outputText).toMatch(
    /^tool said: (?:(?:pay done|Marked as completed\.)(?: \| |$)){6}$/,
  );
});
