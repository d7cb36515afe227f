import { clientId, idPrefixes, userId } from '@convoke/contract';
import { emailOf } from './people/people.ts';
import type { Services } from './services.ts';

/** The names that one response needs. */
export interface Names {
  get(id: string): string | undefined;
}

/** The caller that reads them. */
interface Reader {
  readonly session?: object | undefined;
}

const nameless: Names = new Map<string, string>();
const rememberedMs = 60_000;
const rememberedMost = 10_000;

interface RememberedName {
  readonly name: string | undefined;
  readonly until: number;
}

/**
 * Names of clients, and names or else email addresses of people, for every record that shows who did something (D-330).
 * A name is remembered for a minute, so that starting or polling a run reads none from the database.
 */
export class ActorNames {
  readonly #services: Pick<Services, 'store' | 'clock'>;
  readonly #remembered = new Map<string, RememberedName>();

  constructor(services: Pick<Services, 'store' | 'clock'>) {
    this.#services = services;
  }

  /** D-386: a token for one session reads no names, because its page belongs to a user of the product. */
  async of(actors: Iterable<string | null | undefined>, reader: Reader = {}): Promise<Names> {
    if (reader.session !== undefined) return nameless;
    const now = this.#services.clock.now();
    const unknown = new Set<string>();
    const names = new Map<string, string>();
    for (const id of actors) {
      if (id === null || id === undefined) continue;
      const known = this.#remembered.get(id);
      if (known === undefined || known.until <= now) unknown.add(id);
      else if (known.name !== undefined) names.set(id, known.name);
    }
    if (unknown.size > 0) {
      const read = await this.#read([...unknown]);
      for (const id of unknown) {
        const name = read.get(id);
        if (name !== undefined) names.set(id, name);
        this.#remember(id, { name, until: now + rememberedMs });
      }
    }
    return names;
  }

  async #read(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { organizations, clients } = this.#services.store.read;
    const startingWith = (prefix: string) => ids.filter((id) => id.startsWith(`${prefix}_`));
    const people = await organizations.people(startingWith(idPrefixes.user).map(userId));
    const programs = await clients.names(startingWith(idPrefixes.client).map(clientId));
    const known = people.flatMap((person) => {
      const name = person.name ?? emailOf(person);
      return name === undefined ? [] : [[person.id, name] as const];
    });
    return new Map<string, string>([...known, ...programs]);
  }

  #remember(id: string, remembered: RememberedName): void {
    // A map keeps the order of insertion, so its first entry is the name that was read longest ago.
    this.#remembered.delete(id);
    this.#remembered.set(id, remembered);
    if (this.#remembered.size <= rememberedMost) return;
    for (const oldest of this.#remembered.keys()) {
      this.#remembered.delete(oldest);
      return;
    }
  }
}
