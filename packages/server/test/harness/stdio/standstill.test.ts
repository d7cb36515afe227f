import { expect, test } from 'vitest';
import type { Line } from '../../../src/harness/lines.ts';
import { standstill, watchedLines } from '../../../src/harness/stdio/standstill.ts';
import { FakeClock } from '../../support/clocks.ts';

/** A program whose lines a test writes, and what its reader got. */
function watched() {
  const clock = new FakeClock();
  const asked: object[] = [];
  const waiting: PromiseWithResolvers<string | undefined>[] = [];
  const written: (string | undefined)[] = [];
  async function* lines(): AsyncGenerator<Line, void> {
    for (;;) {
      const next = Promise.withResolvers<string | undefined>();
      if (written.length > 0) next.resolve(written.shift());
      else waiting.push(next);
      const text = await next.promise;
      if (text === undefined) return;
      yield { text, bytes: Buffer.byteLength(text), isEnded: true };
    }
  }
  const reader = watchedLines(lines(), { clock, send: (message) => asked.push(message) });
  const write = async (text: string | undefined) => {
    const reading = waiting.shift();
    if (reading === undefined) written.push(text);
    else reading.resolve(text);
    await new Promise(setImmediate);
  };
  const tick = (seconds: number) => clock.advance(seconds * 1000);
  return { reader, asked, write, tick };
}

const alive = '{"type":"alive"}';

test('a program that does not answer is named once, after five seconds (D-479)', async () => {
  const { reader, asked, write, tick } = watched();
  const got: unknown[] = [];
  const reading = (async () => {
    for await (const line of reader) got.push(line === standstill ? 'standstill' : line.text);
  })();
  await write(alive);
  await write('looping');
  tick(1);
  expect(asked).toEqual([{ type: 'ping' }]);
  tick(4);
  await new Promise(setImmediate);
  expect(got).toEqual(['looping']);
  tick(1);
  await new Promise(setImmediate);
  expect(got).toEqual(['looping', 'standstill']);
  tick(60);
  await write('done');
  await write(undefined);
  await reading;
  expect([got, asked.length]).toEqual([['looping', 'standstill', 'done'], 1]);
});

test('a program that answers, that talks or that is still loading is not named', async () => {
  const { reader, asked, write, tick } = watched();
  const got: unknown[] = [];
  const reading = (async () => {
    for await (const line of reader) got.push(line === standstill ? 'standstill' : line.text);
  })();
  tick(60);
  expect(asked).toEqual([]);
  await write(alive);
  for (let round = 0; round < 5; round += 1) {
    tick(5);
    await write(alive);
  }
  expect(asked).toHaveLength(5);
  await write('more');
  for (let round = 0; round < 20; round += 1) {
    tick(0.9);
    await write('more');
  }
  await write(undefined);
  await reading;
  expect(got).toEqual(Array(21).fill('more'));
});

test('the time in which the server itself is busy with a line does not count', async () => {
  const { reader, asked, write, tick } = watched();
  const first = reader.next();
  await write('one');
  expect(await first).toMatchObject({ value: { text: 'one' } });
  tick(60);
  expect(asked).toEqual([]);
  await write('two');
  expect(await reader.next()).toMatchObject({ value: { text: 'two' } });
  await reader.return();
});

test('a reader that stops at the notice does not wait for the program', async () => {
  const { reader, write, tick } = watched();
  const first = reader.next();
  await write('looping');
  await first;
  const second = reader.next();
  tick(6);
  expect(await second).toEqual({ done: false, value: standstill });
  expect(await reader.return()).toEqual({ done: true, value: undefined });
});
