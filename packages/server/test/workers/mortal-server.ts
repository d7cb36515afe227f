// A server in a process of its own that kills itself, as `kill -9` does, at a chosen point of its work. The parent
// process chooses the point and receives the address of the server.
import { subscribe } from 'node:diagnostics_channel';
import { compose } from '../../src/compose/compose.ts';
import { readConfig } from '../../src/config/config.ts';
import type { CredentialProvider } from '../../src/ports/credential-provider.ts';
import type { Store, StoreTransaction } from '../../src/ports/store.ts';

/**
 * The work that a death interrupts, by what its transactions touch: a noun of the store, or one method of it. Two of
 * its moments are right before and right after each commit.
 */
const touchedBy = {
  identity: ['tenants', 'withdrawals', 'blobRemovals'],
  numbering: ['feeds.append'],
  leasing: ['deliveries.claim'],
  /** Not a transaction: its moments are a request that was written and one that was answered. */
  sending: [],
  recording: ['deliveries.save'],
  firing: ['schedules.insertFires'],
} as const satisfies Record<string, readonly string[]>;

export type Work = keyof typeof touchedBy;

export interface Death {
  readonly work: Work;
  /** Moments of this work that pass before it. */
  readonly moment: number;
}

/** Undefined while no death is planned. */
let death: Death | undefined;
let passed = 0;
process.on('message', (planned: Death) => {
  death = planned;
  passed = 0;
});

function moment(work: Work): void {
  if (death?.work !== work) return;
  if (passed === death.moment) process.kill(process.pid, 'SIGKILL');
  passed += 1;
}

function mortal(store: Store): Store {
  return {
    ...store,
    async transaction(work) {
      const touched = new Set<string>();
      const dieIfDue = () => {
        for (const [name, things] of Object.entries(touchedBy)) {
          if (things.some((thing) => touched.has(thing))) moment(name as Work);
        }
      };
      const result = await store.transaction(async (tx) => {
        touched.clear();
        const value = await work(watched(tx, touched));
        dieIfDue();
        return value;
      });
      dieIfDue();
      return result;
    },
  };
}

/** Notes every noun and every method that the transaction uses. */
function watched(tx: StoreTransaction, touched: Set<string>): StoreTransaction {
  const noting = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(_, name) {
        const at = `${path}${String(name)}`;
        touched.add(at);
        const member: unknown = Reflect.get(target, name);
        if (typeof member === 'function') return member.bind(target);
        return path === '' && typeof member === 'object' && member !== null
          ? noting(member, `${at}.`)
          : member;
      },
    });
  return noting(tx, '');
}

// All requests that these servers make are deliveries of webhooks.
subscribe('http.client.request.start', () => moment('sending'));
subscribe('http.client.response.finish', () => moment('sending'));

/** A slow provider, so that the rest of a withdrawal outlives its request. */
const provider: CredentialProvider = {
  withdraw() {
    moment('identity');
    return Promise.resolve(death === undefined ? 'done' : 'pending');
  },
};

const config = readConfig(process.env);
const convoke = await compose(config, { wrapStore: mortal, provider });
const address = await convoke.app.listen({ host: config.host, port: 0 });
const quickstart = await convoke.quickstart();
await convoke.start();
process.send?.({ ...quickstart, base_url: address });
