import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Agent } from '../../../src/domain/agent.ts';
import { readRules } from '../../../src/domain/rules/rule.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import { acpHarness } from '../../../src/harness/acp/harness.ts';
import type { AcpSettings } from '../../../src/harness/acp/settings.ts';
import type { Answer, Effects, LegContext, LegInput } from '../../../src/ports/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { recordingLog } from '../../support/agent-folders.ts';
import { watchedEffects } from '../../support/effects.ts';
import { eventually } from '../../support/eventually.ts';
import { Death, MortalLegs } from '../../support/mortal-legs.ts';
import { allowing, denying } from '../sittings.ts';
import { acpAgent, steps, useAcpAgent } from './use-acp-agent.ts';

const { sit, place } = useAcpAgent();

describe('an ACP agent whose server died', () => {
  test('continues in its own session, and its prompt names what it had done (D-85)', async () => {
    const { sitting, harness, made } = await sit({});
    const task = steps({ say: 'Working. ' }, { call: 'paid.txt' }, { hang: 'listening' });
    const leg = sitting.start(task);
    await sitting.hear(leg, {
      onEvent: (event) =>
        event.type === 'custom' && event.data['status'] === 'completed' && leg.kill(),
    });
    expect(await made('paid.txt')).toBeDefined();
    const restarted = sitting.movedTo(harness());
    const { text, end } = await restarted.hear(restarted.goOn(steps({ say: 'Done.' })));
    expect(text).toMatch(/were carried out\. Do not carry them out again:\n- .*paid\.txt/);
    expect(text.endsWith(`The task was:\n${steps({ say: 'Done.' })}Done.`)).toBe(true);
    expect(text).not.toContain('It is not known');
    expect(end).toMatchObject({ outcome: 'completed' });
    const next = await restarted.say(steps({ report: 'history' }));
    expect(next.text).toContain('Working. ');
  });

  test('is asked under a new name, so that an earlier approval counts once (D-39)', async () => {
    const { sitting, harness } = await sit({ agent: { approvalRequiredTools: ['*'] } });
    const leg = sitting.start(steps({ call: 'a.txt' }, { hang: 'listening' }));
    const first = await sitting.hear(leg, {
      onAsked: allowing,
      onEvent: (event) =>
        event.type === 'custom' && event.data['status'] === 'completed' && leg.kill(),
    });
    const restarted = sitting.movedTo(harness());
    const again = restarted.goOn(steps({ call: 'b.txt' }));
    const second = await restarted.hear(again, { onAsked: allowing });
    expect(first.asked.map(({ ref }) => ref)).toEqual(['permission-1']);
    expect(second.asked.map(({ ref }) => ref)).toEqual(['permission-2']);
  });

  test('ends its run when the agent no longer has the session', async () => {
    const { sitting, harness } = await sit({ flags: ['--forgetful'] });
    const leg = sitting.start(steps({ say: 'one' }, { hang: 'listening' }));
    await sitting.hear(leg, { onEvent: ({ type }) => type === 'message_delta' && leg.kill() });
    const restarted = sitting.movedTo(harness());
    const said = await restarted.hear(restarted.goOn());
    expect(said.end).toMatchObject({
      outcome: 'error',
      code: 'worker_lost',
      message: expect.stringContaining('no longer has its session'),
    });
    expect(said.text).toBe('');
    expect(said.custom('session_lost')).toHaveLength(1);
  });
});

describe('an ACP agent whose server drains', () => {
  test('is handed over in the middle of its words, and its prompt names where it stopped (D-85)', async () => {
    const { sitting, harness } = await sit({});
    const leg = sitting.start(steps({ say: 'Working. ' }, { hang: 'listening' }));
    const first = await sitting.hear(leg, {
      onEvent: ({ type }) => type === 'message_delta' && leg.yield?.(),
    });
    expect(first.events.slice(-2)).toMatchObject([
      { type: 'checkpoint', recovery: true },
      { type: 'end', outcome: 'yielded' },
    ]);
    expect(sitting.harness.kept?.()).toEqual([]);
    const next = sitting.movedTo(harness());
    const { text, end } = await next.hear(next.goOn(steps({ say: 'Done.' })));
    expect(text).toContain('Do not repeat it:\nWorking. \n\nThe task was:');
    expect(end).toMatchObject({ outcome: 'completed' });
  });

  test.each([{ earlier: [] }, { earlier: ['one'] }])(
    'is handed over while its program starts, and the next process gets the prompt; earlier runs: $earlier',
    async ({ earlier }) => {
      const { sitting, harness } = await sit({});
      for (const text of earlier) await sitting.say(steps({ say: text }));
      // Its program answers nothing.
      const slow = sitting.movedTo(harness(), acpAgent({ flags: ['--mute'] }));
      const leg = slow.start(steps({ say: 'unheard' }));
      const heard = slow.hear(leg);
      await leg.yield?.();
      expect((await heard).events).toEqual([{ type: 'end', outcome: 'yielded' }]);
      const next = slow.movedTo(harness(), acpAgent({}));
      const task = steps({ report: 'history' }, { say: ' Done.' });
      const { text, end, events } = await next.hear(next.takeOver(task));
      const history = JSON.stringify(earlier.map((said) => steps({ say: said })));
      expect([text, end]).toMatchObject([`${history} Done.`, { outcome: 'completed' }]);
      expect(events).not.toContainEqual(expect.objectContaining({ name: 'session_lost' }));
    },
  );

  test('finishes the call that it is making first', async () => {
    const { sitting, harness, put } = await sit({});
    const leg = sitting.start(steps({ busy: 'go.txt' }, { hang: 'listening' }));
    const first = await sitting.hear(leg, {
      onEvent: async (event) => {
        if (event.type !== 'custom' || event.data['status'] !== 'in_progress') return;
        await leg.yield?.();
        await put('go.txt');
      },
    });
    expect(first.custom('tool_call')).toMatchObject([{}, { status: 'completed' }]);
    expect(first.end).toMatchObject({ outcome: 'yielded' });
    const next = sitting.movedTo(harness());
    const { text } = await next.hear(next.goOn('[]'));
    expect(text).toMatch(/Do not carry them out again:\n- go\.txt/);
  });

  test('makes no further call once it is being handed over, and the next process makes it once (D-85)', async () => {
    const { sitting, harness, made, put } = await sit({});
    // It asks for the second call in the moment in which the first one is over.
    const task = steps({ busy: 'go.txt' }, { call: 'paid.txt' });
    const leg = sitting.start(task);
    const first = await sitting.hear(leg, {
      onEvent: async (event) => {
        if (event.type !== 'custom' || event.data['status'] !== 'in_progress') return;
        await leg.yield?.();
        await put('go.txt');
      },
    });
    expect([first.end, await made('paid.txt')]).toMatchObject([{ outcome: 'yielded' }, undefined]);
    const next = sitting.movedTo(harness());
    const { end } = await next.hear(next.goOn(task));
    expect([end, await made('paid.txt')]).toMatchObject([{ outcome: 'completed' }, 'yes-once']);
  });

  test('leaves what it asks behind; the next process gets the answers, and may make exactly that call once', async () => {
    const agent = { approvalRequiredTools: ['*'] };
    const { sitting, harness, made } = await sit({ agent });
    const properties = { colour: { type: 'string', title: 'Colour' } };
    const asks = [
      { ask: { elicit: 'Which colour?', properties }, told: 'The answer is: blue' },
      { ask: { call: 'a.txt' }, told: 'allowed these actions.' },
    ] as const;
    const answers = new Map<string, Answer>();
    for (const { ask, told } of asks) {
      const leg = sitting.start(steps(ask, { say: 'unheard' }));
      const first = await sitting.hear(leg, {
        onEvent: ({ type }) =>
          (type === 'permission_request' || type === 'user_question') && leg.yield?.(),
      });
      expect(first.end).toMatchObject({ outcome: 'yielded' });
      expect([first.asked.length, await made('a.txt')]).toEqual([1, undefined]);
      expect(first.text).not.toContain('unheard');
      const [asked] = first.asked;
      if (asked === undefined) throw new Error('it asks');
      answers.set(
        asked.ref,
        asked.type === 'user_question' ? { kind: 'question', values: ['blue'] } : allowing(asked),
      );
      const next = sitting.movedTo(harness());
      const task = steps(...('call' in ask ? [ask, ask] : []));
      const second = await next.hear(next.goOn(task, {}, answers), { onAsked: () => denying });
      expect(second.text).toContain(told);
      // The second call of the same kind is asked about as any other.
      expect(second.asked.length).toBe('call' in ask ? 1 : 0);
    }
    expect(await made('a.txt')).toBe('yes-once');
  });

  test('that could not open its session again is left to end on its own', async () => {
    const { sitting, put } = await sit({ flags: ['--forgetful'] });
    const leg = sitting.start(steps({ say: 'one' }, { busy: 'go.txt' }, { say: ' two' }));
    const { end, text } = await sitting.hear(leg, {
      onEvent: async (event) => {
        if (event.type !== 'message_delta' || event.text !== 'one') return;
        await leg.yield?.();
        await put('go.txt');
      },
    });
    expect([text, end]).toMatchObject(['one two', { outcome: 'completed' }]);
  });
});

describe('an ACP agent that asks before it acts, and whose worker dies', () => {
  const recovery = {
    onLoss: 'resume',
    attempts: 3,
    inDoubt: 'ask',
    repeatableTools: [],
    cutMessage: 'continue',
  } as const;
  /** A program may need that long to start on a busy machine. */
  const startMs = 60_000;
  const task = steps({ say: 'Paying. ' }, { call: 'paid.txt' }, { say: 'Done.' });

  /** Runs whose worker can die at an entry of the call ledger. */
  async function open(parts: Partial<Agent> = {}) {
    const { sandbox } = place();
    const harness = acpHarness({ sandbox, clock: systemClock, log: recordingLog() });
    const seat = { begun: () => {}, ending: async () => {}, folder: '' };
    const fragile: typeof harness = Object.assign(Object.create(harness), {
      start: (input: LegInput, context: LegContext<AcpSettings>) => {
        const { effects } = context;
        seat.folder = context.sessionFolder;
        const begin: Effects['begin'] = async (call) => {
          const mayBegin = await effects.begin(call);
          seat.begun();
          return mayBegin;
        };
        const end: Effects['end'] = async (ref, result) => {
          await seat.ending();
          await effects.end(ref, result);
        };
        return harness.start(input, {
          ...context,
          effects: watchedEffects(effects, { begin, end }),
        });
      },
    });
    const { account } = sandbox;
    const agent = acpAgent({ agent: { recovery, ...parts } });
    const legs = await MortalLegs.open({ kind: 'sqlite', agent, harness: fragile, account });
    onTestFinished(async () => {
      for (const session of harness.kept?.() ?? []) await harness.release?.(session);
      await legs.close();
    });
    /** What the call left in the session folder, once for each time it was made. */
    const paid = () => readFile(join(seat.folder, 'paid.txt'), 'utf8').catch(() => '');
    return { legs, seat, paid };
  }

  test('between the intent and the call: a person is asked, and the call is made once (D-83)', async () => {
    const { legs, seat, paid } = await open();
    const run = await legs.start(task);
    const death = new Death();
    seat.begun = () => death.die();
    await legs.execute(run, death);
    expect(await paid()).toBe('');
    seat.begun = () => {};
    const { ended, asked } = await legs.finishDoing(run);
    expect(ended.status).toBe('completed');
    expect([asked, await paid()]).toEqual([['in-doubt:permission-1'], 'yes-once']);
  });

  test('between the call and its result: what a person says was done is not repeated (D-84)', async () => {
    const { legs, seat, paid } = await open();
    const run = await legs.start(task);
    const death = new Death();
    // The result never reaches the ledger.
    seat.ending = () => {
      death.die();
      return new Promise(() => {});
    };
    await legs.execute(run, death);
    seat.ending = async () => {};
    const ended = await legs.finish(run, { answer: () => ({ answer: doubtOptions.done.label }) });
    expect(ended.status).toBe('completed');
    expect(ended.outputText).toContain('- paid.txt (Marked as completed.)');
    expect(await paid()).toBe('yes-once');
  });

  test('makes a call with a long input once more, and no other call of the same title instead (D-905)', async () => {
    const when = [{ path: '/input/force', present: true }];
    const rules = readRules([{ name: 'forced', tools: ['execute'], effect: 'ask', when }]);
    const { legs, seat, paid } = await open({ rules });
    const text = 'x'.repeat(256 * 1024);
    const forced = { call: 'paid.txt', input: { text, force: true }, text: 'forced' };
    const run = await legs.start(steps(forced, { call: 'paid.txt', input: { text } }));
    const death = new Death();
    seat.begun = () => death.die();
    await legs.execute(run, death);
    seat.begun = () => {};
    const { ended, asked } = await legs.finishDoing(run);
    expect(ended.status).toBe('completed');
    expect([asked, await paid()]).toEqual([['in-doubt:permission-2'], 'yes-once']);
    // It was begun before, and once more as the person said: under its own name.
    const calls = await legs.world.store.read.toolCalls.ofRun(run.id);
    expect(calls.map(({ ref }) => ref)).toEqual(['permission-2']);
  });

  test('while a person is asked: the question stays, and its answer continues the run', async () => {
    const { legs, paid } = await open({ approvalRequiredTools: ['*'] });
    const run = await legs.start(task);
    const death = new Death();
    const executed = legs.execute(run, death);
    await eventually(async () => (await legs.world.read(run)).status === 'waiting', startMs);
    death.die();
    await executed;
    const ended = await legs.finish(run, { answer: () => ({ decision: 'allow' }) });
    expect(ended).toMatchObject({ status: 'completed', pendingInteractions: 0 });
    const log = await legs.world.logOf(run.id);
    expect(log.filter(({ type }) => type === 'permission_request')).toHaveLength(1);
    expect(await paid()).toBe('yes-once');
  });
});
