import { clientId, userId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { ActorNames } from '../../src/app/actor-names.ts';
import { MovingClock } from '../support/clocks.ts';

/** Names by id, and how often each was read. */
function directory(entries: Readonly<Record<string, string>>) {
  const reads: string[] = [];
  const known = <Id extends string>(ids: readonly Id[]) => {
    reads.push(...ids);
    return Promise.resolve(
      new Map(ids.flatMap((id) => (entries[id] === undefined ? [] : [[id, entries[id]] as const]))),
    );
  };
  const read = { organizations: { emails: known }, clients: { names: known } };
  return { store: { read } as never, reads };
}

describe('names of actors (D-330)', () => {
  test('a name is read once a minute, also that somebody has none', async () => {
    const clock = new MovingClock();
    const { store, reads } = directory({ cli_a: 'Deploys', usr_b: 'ann@example.com' });
    const names = new ActorNames({ store, clock });
    for (let n = 0; n < 3; n += 1) {
      const found = await names.of(['cli_a', 'usr_b', 'cli_gone', null, undefined]);
      expect(found.get('cli_a')).toBe('Deploys');
      expect(found.get('usr_b')).toBe('ann@example.com');
      expect(found.get('cli_gone')).toBeUndefined();
    }
    expect(reads.toSorted()).toEqual(['cli_a', 'cli_gone', 'usr_b']);
    clock.advance(60_000);
    await names.of(['cli_a']);
    expect(reads.filter((id) => id === 'cli_a')).toHaveLength(2);
  });

  test('the address that stands for an unknown one is not a name', async () => {
    const { store } = directory({ usr_c: `${userId('usr_c')}@people.invalid` });
    const names = new ActorNames({ store, clock: new MovingClock() });
    expect((await names.of(['usr_c'])).get('usr_c')).toBeUndefined();
  });

  test('the oldest names are forgotten above ten thousand', async () => {
    const { store, reads } = directory({});
    const names = new ActorNames({ store, clock: new MovingClock() });
    const ids = Array.from({ length: 10_001 }, (_, n) => clientId(`cli_${n}`));
    await names.of(ids);
    reads.length = 0;
    await names.of(ids.slice(1));
    expect(reads).toEqual([]);
    await names.of(ids.slice(0, 1));
    expect(reads).toEqual(['cli_0']);
  });
});
