import { BoundedMap } from '../../runtime/bounded-map.ts';

/**
 * The networks from which each person has signed in. Guesses from everywhere else use up the attempts on a person, and
 * must not keep the person themselves out. Kept in memory, so after a restart every network is new again.
 */
export interface KnownNetworks {
  add(person: string, network: string): void;
  has(person: string, network: string): boolean;
}

/** Home, office, phone and a few more. Each one is worth some guesses a minute to an attacker who shares it. */
const networksPerPersonMax = 8;
const personsMax = 10_000;

export function createKnownNetworks(): KnownNetworks {
  const ofPersons = new BoundedMap<string, BoundedMap<string, true>>(personsMax);
  return {
    add(person, network) {
      const networks = ofPersons.get(person) ?? new BoundedMap<string, true>(networksPerPersonMax);
      networks.set(network, true);
      ofPersons.set(person, networks);
    },
    has: (person, network) => ofPersons.get(person)?.has(network) ?? false,
  };
}
