import { interruptedText } from '@convoke/faces';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { scriptedHarness } from '../../../src/harness/scripted/harness.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { databaseKinds } from '../../support/databases.ts';
import { until } from '../../support/eventually.ts';
import { Death, MortalLegs } from '../../support/mortal-legs.ts';
import { type Start, collect, deny, play, start, stateOf, textOf } from './leg.ts';

const words = Array.from({ length: 12 }, (_, index) => `word-${index} `).join('');
const whole = `First. ${words}no, done.`;
const scripted = (script: Start['agent']['settings'], more = {}) =>
  agentOf({ framework: 'scripted', settings: { script }, ...more });
const agent = scripted([
  { say: 'First. ' },
  // A word a turn of the loop, so that words have commits of their own.
  { say: { text: words, every_ms: 1 } },
  { ask: { question: 'More?' } },
  { say: '{{answer}}, done.' },
]);

describe.each(databaseKinds)('on %s, a worker that dies under a script', (kind) => {
  let legs: MortalLegs;
  beforeAll(async () => {
    legs = await MortalLegs.open({ kind, agent, harness: scriptedHarness({ clock: systemClock }) });
  });
  afterAll(() => legs.close());

  test('says no word twice, whichever commit was its last: the deltas join to the answer', async () => {
    for (const hasCommitted of [true, false]) {
      for (const commit of [0, 1, 2, 4, 6, 9]) {
        const run = await legs.start('go');
        const deaths = [new Death(commit, hasCommitted), new Death(3, hasCommitted)];
        const ended = await legs.finish(run, { deaths, answer: () => ({ answer: 'no' }) });
        const what = `commit ${commit}`;
        expect([what, ended.status, ended.outputText]).toEqual([what, 'completed', whole]);
        expect([what, await legs.plain(run)]).toEqual([what, whole]);
        expect([what, await legs.joined(run)]).toEqual([what, whole]);
      }
    }
  });
});

describe('a worker that dies after the first word of a step', () => {
  test.each([
    ['continue', whole],
    ['again', `First. word-0 ${interruptedText}${whole.slice('First. '.length)}`],
  ] as const)('with cut_message: %s', async (cutMessage, said) => {
    let isHeld = true;
    const clock = { ...systemClock, after: holding(() => isHeld) };
    const recovery = { ...agent.recovery, cutMessage };
    const parts = { agent: { ...agent, recovery }, harness: scriptedHarness({ clock }) };
    const legs = await MortalLegs.open({ kind: 'sqlite', ...parts });
    onTestFinished(() => legs.close());
    const run = await legs.start('go');
    const death = new Death();
    const dying = legs.execute(run, death);
    await until(async () => (await legs.plain(run)) === 'First. word-0 ', { what: 'word' });
    death.die();
    await dying;
    isHeld = false;
    const ended = await legs.finish(run, { answer: () => ({ answer: 'no' }) });
    expect(ended.outputText).toBe(whole);
    expect(await legs.joined(run)).toBe(whole);
    expect(await legs.plain(run)).toBe(said);
  });
});

/** Timers that never fire while they are held. */
function holding(isHeld: () => boolean): Clock['after'] {
  return (ms, callback) => (isHeld() ? () => {} : systemClock.after(ms, callback));
}

describe('a leg that continues', () => {
  const talker = scripted([{ say: 'one two three' }, { say: ' four' }]);
  const goOn = (more: Partial<Start>) =>
    play({ agent: talker, isContinued: true, ...more } satisfies Start);

  test('continues behind the last word, also behind the last of a step', async () => {
    expect(textOf(await goOn({ cut: 'one ' }))).toBe('two three four');
    expect(textOf(await goOn({ cut: 'one two three' }))).toBe(' four');
    expect(textOf(await goOn({ cut: '' }))).toBe('one two three four');
  });

  test('ends with an error when the script says something else there', async () => {
    expect((await goOn({ cut: 'uno ' })).at(-1)).toMatchObject({ outcome: 'error' });
  });

  test('does not deny a tool a second time', async () => {
    const gated = scripted([{ tool: { name: 'read_file', input: { path: 'x' } } }], {
      approvalRequiredTools: ['read_file'],
    });
    const answers = { 'step-0': deny };
    const events = await play({ agent: gated, isContinued: true, answers, cut: 'denied' });
    expect(events).toEqual([{ type: 'end', outcome: 'completed' }]);
  });
});

test('a leg is handed over between two words, and the next one says the rest', async () => {
  const talker = scripted([{ say: 'one two three' }, { say: ' four' }]);
  const leg = start({ agent: talker });
  const first = [];
  for await (const event of leg) {
    first.push(event);
    if (event.type === 'message_delta' && event.text === 'two ') await leg.yield?.();
  }
  expect(textOf(first)).toBe('one two ');
  expect(first.at(-1)).toEqual({ type: 'end', outcome: 'yielded' });
  const state = stateOf(first);
  const again = start({ agent: talker, isContinued: true, state });
  expect(textOf(await collect(again))).toBe('three four');
  // One that is lost in the step that it was to finish has said more than its recovery point knows.
  const later = start({ agent: talker, isContinued: true, state, cut: 'thr' });
  expect(textOf(await collect(later))).toBe('ee four');
});
