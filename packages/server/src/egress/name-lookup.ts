import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { Clock } from '../ports/clock.ts';
import { HostsFile } from './hosts-file.ts';
import { queryMs, queryName } from './name-query.ts';
import { candidatesOf, readSearchList } from './search-list.ts';
import { LookupFailed } from './unreachable.ts';

/** Queries of one lookup under way at once. */
const togetherMax = 2;
/** Further ones wait for their turn, as long as a query may take. */
const waitingMax = 64;
const nameMax = 253;
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Resolves a host to all its addresses; none when it has none. Throws `LookupFailed`. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export interface NameSources {
  readonly clock: Clock;
  /** Name servers as `address:port`; those of the machine by default. */
  readonly servers?: readonly string[] | undefined;
}

const hostsFile = new HostsFile();

/**
 * Looks up names that a tenant, a program or a model chose, for one of them: two at a time, each for two seconds at
 * most (D-279), so that slow names hold up nothing but the lookups of the same party. Equal names share a query.
 *
 * Asks `/etc/hosts` and the name servers, with the search list of `/etc/resolv.conf`. Other sources of
 * `nsswitch.conf(5)` are not asked.
 */
export class NameLookup {
  readonly #sources: NameSources;
  readonly #shared = new Map<string, Promise<readonly LookupAddress[]>>();
  readonly #waiting = new Set<() => void>();
  #underWay = 0;

  constructor(sources: NameSources) {
    this.#sources = sources;
  }

  readonly resolve: Resolve = async (host) => {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    const name = host.toLowerCase();
    // Anything else is no name that a server could know, and c-ares would read it up to its first NUL.
    if (name.length > nameMax || !/^[\w-]+(\.[\w-]+)*\.?$/.test(name)) return [];
    const bare = name.replace(/\.$/, '');
    const listed = await hostsFile.addressesOf(bare);
    if (listed.length > 0) return listed;
    // RFC 6761: never asked for.
    if (bare === 'localhost' || bare.endsWith('.localhost')) return loopback;
    return this.#share(name);
  };

  async #share(name: string): Promise<readonly LookupAddress[]> {
    const known = this.#shared.get(name);
    if (known !== undefined) return known;
    const query = this.#inTurn(name);
    this.#shared.set(name, query);
    try {
      return await query;
    } finally {
      this.#shared.delete(name);
    }
  }

  async #inTurn(name: string): Promise<readonly LookupAddress[]> {
    if (!(await this.#takeTurn())) {
      throw new LookupFailed(
        `${name} was not looked up: ${togetherMax} lookups of other names are under way, and slow`,
      );
    }
    try {
      const names = candidatesOf(name, await readSearchList());
      const found = await queryName({ names, ...this.#sources });
      if (found !== undefined) return found;
      throw new LookupFailed(`${name} could not be looked up within ${queryMs / 1000} s`);
    } finally {
      this.#endTurn();
    }
  }

  /** Resolves to false when the turn does not come in time, or too many wait for one. */
  async #takeTurn(): Promise<boolean> {
    if (this.#underWay < togetherMax) {
      this.#underWay += 1;
      return true;
    }
    if (this.#waiting.size >= waitingMax) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const start = () => {
      cancelTimer();
      resolve(true);
    };
    const cancelTimer = this.#sources.clock.after(queryMs, () => {
      this.#waiting.delete(start);
      resolve(false);
    });
    this.#waiting.add(start);
    return promise;
  }

  #endTurn(): void {
    for (const start of this.#waiting) {
      // The turn goes from one to the next.
      this.#waiting.delete(start);
      start();
      return;
    }
    this.#underWay -= 1;
  }
}
