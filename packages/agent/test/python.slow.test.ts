// The Python kit does the same as this one: the programs of the zoo, undisturbed and at every seat, message by message.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../../test/repository.ts';
import { callsZoo } from './calls-zoo.ts';
import { type Transcript, transcriptsOf } from './transcript.ts';
import { waitsZoo } from './waits-zoo.ts';
import { type Specimen, zoo } from './zoo.ts';

const kit = join(root, 'packages/agent-python');

/** Programs whose branches do something else at the same time: which one is first is left to threads and loops. */
const unordered: Readonly<Record<string, readonly string[]>> = {
  zoo: [
    'branches that end in another order than they began',
    'steps that speak at once',
    'two questions at once beside a step',
    'scopes that run at once',
  ],
  async_zoo: ['branches that end in another order than they began', 'steps that speak at once'],
  waits_zoo: ['side by side, with a step behind each'],
  calls_zoo: ['side by side, with a step and a sleep behind each'],
};

/** What of an unordered program is the same in every kit. */
function setOf(transcript: Transcript, { options }: Pick<Specimen, 'options'>) {
  const { comparable = (text: string) => text } = options ?? {};
  const calls = transcript.calls.toSorted((a, b) => a.localeCompare(b));
  return { ...transcript, legs: [], seat: '', calls, text: comparable(transcript.text) };
}

const files: readonly [string, Readonly<Record<string, Pick<Specimen, 'make' | 'options'>>>][] = [
  ['zoo', zoo],
  ['async_zoo', zoo],
  ['waits_zoo', waitsZoo],
  ['calls_zoo', callsZoo],
];

describe.each(files)('%s.py', (file, programs) => {
  let ran: SpawnSyncReturns<string>;
  let printed: Map<string, Transcript[]>;
  beforeAll(() => {
    ran = spawnSync('/usr/bin/python3', ['-B', 'transcript.py', file], {
      cwd: join(kit, 'test'),
      env: { PYTHONPATH: kit, LANG: 'C.UTF-8' },
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    const lines = ran.stdout.split('\n').filter((line) => line !== '');
    const transcripts = lines.map((line) => JSON.parse(line) as Transcript);
    printed = Map.groupBy(transcripts, ({ name }) => name);
  });

  test('has the same programs, and loses and repeats nothing at any seat', () => {
    expect([ran.status, ran.stderr]).toEqual([0, '']);
    expect([...printed.keys()]).toEqual(Object.keys(programs));
  });

  test.each(Object.entries(programs))('%s', async (name, specimen) => {
    const { make, options = {} } = specimen;
    const here = await transcriptsOf({ name, make, options });
    const there = printed.get(name) ?? [];
    if (unordered[file]?.includes(name) === true) {
      expect(setOf(there[0] as Transcript, specimen)).toEqual(
        setOf(here[0] as Transcript, specimen),
      );
      const whole = there.filter(({ doubt }) => !doubt);
      expect(whole.length).toBeGreaterThan(here.length / 2);
      const { text, state, outcome } = setOf(here[0] as Transcript, specimen);
      for (const each of whole)
        expect(setOf(each, specimen)).toMatchObject({ text, state, outcome });
      return;
    }
    expect(there.map(({ seat }) => seat)).toEqual(here.map(({ seat }) => seat));
    for (const [index, transcript] of here.entries()) expect(there[index]).toEqual(transcript);
  });
});
