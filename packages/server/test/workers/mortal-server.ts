// A server in a process of its own that kills itself, as `kill -9` does, at a chosen point of the work on tenants,
// withdrawals and blobs. The parent process chooses the point and receives the address of the server.
import { compose } from '../../src/compose/compose.ts';
import { readConfig } from '../../src/config/config.ts';
import type { CredentialProvider } from '../../src/ports/credential-provider.ts';
import type { Store, StoreTransaction } from '../../src/ports/store.ts';

/** Points left until the crash; undefined while no crash is planned. */
let left: number | undefined;
process.on('message', (moments: number) => {
  left = moments;
});

function moment(): void {
  if (left === undefined) return;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
  left -= 1;
}

const counted = new Set<string | symbol>(['tenants', 'withdrawals', 'blobRemovals']);

/** A point is right before and right after each commit that touches a tenant, a withdrawal or the removal of a blob. */
function mortal(store: Store): Store {
  return {
    ...store,
    async transaction(work) {
      let isCounted = false;
      const result = await store.transaction(async (tx) => {
        const watched = new Proxy<StoreTransaction>(tx, {
          get(target, noun) {
            if (counted.has(noun)) isCounted = true;
            const member: unknown = Reflect.get(target, noun);
            return typeof member === 'function' ? member.bind(target) : member;
          },
        });
        const value = await work(watched);
        if (isCounted) moment();
        return value;
      });
      if (isCounted) moment();
      return result;
    },
  };
}

/** A slow provider, so that the rest of a withdrawal outlives its request. */
const provider: CredentialProvider = {
  withdraw() {
    moment();
    return Promise.resolve(left === undefined ? 'done' : 'pending');
  },
};

const config = readConfig(process.env);
const convoke = await compose(config, { wrapStore: mortal, provider });
await convoke.app.listen({ host: config.host, port: config.port });
const quickstart = await convoke.quickstart();
await convoke.start();
process.send?.({ ...quickstart, base_url: config.baseUrl });
