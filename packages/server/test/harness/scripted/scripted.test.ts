import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/domain/json.ts';
import { words } from '../../../src/harness/scripted/words.ts';
import type { HarnessEvent } from '../../../src/ports/harness.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { collect, deny, play, start, testClock, textOf } from './leg.ts';

test('use reports the sum of the leg so far, for each model', async () => {
  const script = [
    { use: { input_tokens: 10, output_tokens: 2, cached_input_tokens: 4 } },
    { use: { input_tokens: 1, output_tokens: 1, reasoning_tokens: 1, model: 'small' } },
    { use: { input_tokens: 5, output_tokens: 1 } },
  ];
  const events = await play({ agent: agentOf({ script }) });
  expect(events.filter(({ type }) => type === 'usage')).toEqual([
    {
      type: 'usage',
      inputTokens: 10,
      outputTokens: 2,
      cachedInputTokens: 4,
      reasoningTokens: 0,
    },
    {
      type: 'usage',
      inputTokens: 1,
      outputTokens: 1,
      cachedInputTokens: 0,
      reasoningTokens: 1,
      model: 'small',
    },
    {
      type: 'usage',
      inputTokens: 15,
      outputTokens: 3,
      cachedInputTokens: 4,
      reasoningTokens: 0,
    },
  ]);
});

describe('say', () => {
  test('streams one delta per word, with its model, and ends completed', async () => {
    const events = await play({
      agent: agentOf({ script: [{ say: 'one  two\nthree' }], model: 'a/b' }),
    });
    expect(events).toEqual([
      { type: 'message_delta', text: 'one  ', model: 'a/b' },
      { type: 'message_delta', text: 'two\n', model: 'a/b' },
      { type: 'message_delta', text: 'three', model: 'a/b' },
      { type: 'end', outcome: 'completed' },
    ]);
    const [first] = await play({ agent: agentOf({ script: [{ say: 'x' }] }) });
    expect(first).toMatchObject({ model: 'scripted' });
  });

  test('the deltas of any text join to exactly that text, one per word', () => {
    const spaces = fc.constantFrom(' ', '  ', '\n', '\t\r\n', '\u00a0', '\u3000');
    const parts = fc.oneof(
      fc.string({ unit: 'binary' }),
      spaces,
      fc.constantFrom('👩‍👩‍👧', 'é', '\u0000'),
    );
    fc.assert(
      fc.property(fc.array(parts), (all) => {
        const text = all.join('');
        const pieces = [...words(text)];
        expect(pieces.join('')).toBe(text);
        const wordCount = text.split(/\s+/).filter((word) => word !== '').length;
        expect(pieces).toHaveLength(text === '' ? 0 : Math.max(1, wordCount));
      }),
    );
  });

  test('a very long word is cut between characters, and very long space takes linear time', () => {
    const pieces = [...words(`x${'😀'.repeat(20_000)}`)];
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect([...words(' '.repeat(1_000_000))].join('')).toHaveLength(1_000_000);
  });

  test('words are every_ms apart, and there is no wait without it', async () => {
    const clock = testClock();
    await play({ agent: agentOf({ script: [{ say: { text: 'a b c', every_ms: 40 } }] }), clock });
    expect(clock.waits).toEqual([40, 40]);
    const idle = testClock();
    await play({ agent: agentOf({ script: [{ say: 'a b c' }] }), clock: idle });
    expect(idle.waits).toEqual([]);
  });

  test('a long text yields to other work', async () => {
    const leg = start({ agent: agentOf({ script: [{ say: 'word '.repeat(5000) }] }) });
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await collect(leg);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(5);
  });
});

describe('templates', () => {
  test('are replaced in strings at any depth, and inserted values are not expanded again', async () => {
    const data = { deep: [{ said: '{{prompt}}/{{run_number}}' }], number: 1, other: '{{unknown}}' };
    const events = await play({
      agent: agentOf({ script: [{ emit: { type: 'note', data } }, { say: '{{prompt}}' }] }),
      prompt: '{{run_number}}',
      runNumber: 7,
    });
    expect(events[0]).toEqual({
      type: 'custom',
      name: 'note',
      data: { deep: [{ said: '{{run_number}}/7' }], number: 1, other: '{{unknown}}' },
    });
    expect(textOf(events)).toBe('{{run_number}}');
  });

  test('cannot grow a text without bound', async () => {
    const agent = agentOf({ script: [{ say: '{{prompt}}'.repeat(1000) }] });
    const events = await play({ agent, prompt: 'x'.repeat(1_000_000) });
    expect(events).toEqual([
      {
        type: 'end',
        outcome: 'error',
        code: 'agent_error',
        message: 'a string of the script grew too long',
      },
    ]);
  });
});

describe('steps', () => {
  test('sleep_ms waits on the clock', async () => {
    const clock = testClock();
    await play({ agent: agentOf({ script: [{ sleep_ms: 0 }, { sleep_ms: 1234 }] }), clock });
    expect(clock.waits).toEqual([1234]);
  });

  test('fail ends the run with its message and code', async () => {
    const fail = async (step: Json) =>
      (await play({ agent: agentOf({ script: [{ fail: step }] }) })).at(-1);
    expect(await fail({ message: 'no {{prompt}}' })).toEqual({
      type: 'end',
      outcome: 'error',
      code: 'agent_error',
      message: 'no hello',
    });
    expect(await fail({ message: 'm', code: 'model_error' })).toMatchObject({
      code: 'model_error',
    });
  });

  test('repeat repeats its steps, nested too', async () => {
    const inner = { repeat: { times: 2, steps: [{ say: 'b' }] } };
    const agent = agentOf({
      script: [{ repeat: { times: 3, steps: [{ say: 'a' }, inner] } }, { say: 'c' }],
    });
    expect(textOf(await play({ agent }))).toBe('abbabbabbc');
  });
});

describe('cancel', () => {
  test.each<[string, Json]>([
    ['a sleep', { sleep_ms: 3_600_000 }],
    ['a slow text', { say: { text: 'b c d', every_ms: 60_000 } }],
  ])('ends the leg promptly inside %s and leaves no timer', async (_, step) => {
    for (const how of ['cancel', 'kill', 'signal'] as const) {
      const clock = testClock({ hold: true });
      const abort = new AbortController();
      const agent = agentOf({ script: [{ say: 'a' }, step, { say: 'never' }] });
      const leg = start({ agent, clock, signal: abort.signal });
      const events: HarnessEvent[] = [];
      const reading = (async () => {
        for await (const event of leg) events.push(event);
      })();
      while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
      if (how === 'signal') abort.abort();
      else await leg[how]();
      await reading;
      expect(textOf(events)).not.toContain('never');
      expect(events.at(-1)).toEqual({ type: 'end', outcome: 'cancelled' });
      expect(clock.pending()).toBe(0);
    }
  });

  test('before the first event ends the leg without any work', async () => {
    const leg = start({ agent: agentOf({ script: [{ say: 'a' }] }), signal: AbortSignal.abort() });
    expect(await collect(leg)).toEqual([{ type: 'end', outcome: 'cancelled' }]);
  });

  test('in the middle of a fast text takes effect at the next word', async () => {
    const leg = start({ agent: agentOf({ script: [{ say: 'a b c d' }] }) });
    const events: HarnessEvent[] = [];
    for await (const event of leg) {
      events.push(event);
      if (events.length === 2) await leg.cancel();
    }
    expect(events.slice(2)).toEqual([{ type: 'end', outcome: 'cancelled' }]);
  });

  test('does not concern answers: a running leg takes none, they come with a resume leg', async () => {
    const leg = start({ agent: agentOf({ script: [{ say: 'a' }] }) });
    expect(await leg.answer('step-0', deny)).toBe(false);
  });
});
