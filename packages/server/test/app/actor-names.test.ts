import { clientId, userId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { ActorNames } from '../../src/app/actor-names.ts';
import { MovingClock } from '../support/clocks.ts';

interface Known {
  readonly [id: string]: string | { readonly email: string; readonly name: string };
}

/** Names of clients, and people by id, and how often each was read. */
function directory(entries: Known) {
  const reads: string[] = [];
  const known = <Id extends string>(ids: readonly Id[]) => {
    reads.push(...ids);
    return ids.flatMap((id) => (entries[id] === undefined ? [] : [[id, entries[id]] as const]));
  };
  const people = async (ids: readonly string[]) =>
    known(ids).map(([id, person]) =>
      typeof person === 'string' ? { id, email: person, name: null } : { id, ...person },
    );
  const names = async (ids: readonly string[]) => new Map(known(ids));
  const read = { organizations: { people }, clients: { names } };
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

  test('a person who has a name is shown by it, not by the address (D-415)', async () => {
    const { store } = directory({ usr_a: { email: 'ann@example.com', name: 'Ann Miller' } });
    const names = new ActorNames({ store, clock: new MovingClock() });
    expect((await names.of(['usr_a'])).get('usr_a')).toBe('Ann Miller');
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
