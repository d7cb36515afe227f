import { everyKill, rehearse } from '@convoke/agent/test';
import { describe, expect, test } from 'vitest';
import { zoo } from './zoo.ts';

describe.each(Object.entries(zoo))('%s', (_name, { make, options, text }) => {
  test('says what it is meant to say', async () => {
    expect(await rehearse(make(), options)).toMatchObject({ outcome: 'completed', text });
  });

  test('says it also when its process is lost or handed over at any message', async () => {
    expect(await everyKill(make, options)).toMatchObject({ outcome: 'completed' });
  });
});

test('what is used outside steps is charged once, wherever the process is lost', async () => {
  const { make } = zoo['a stream, usage and events'] ?? {};
  if (make === undefined) throw new Error('there is no such program');
  expect((await rehearse(make())).tokens).toBe(7);
});
