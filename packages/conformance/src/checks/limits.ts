import { type Check, ownerCheck } from '../check.ts';
import { NotExercised, ensure } from '../failure.ts';
import { listAt } from '../fields.ts';
import type { Kit } from '../kit.ts';
import { newKey } from '../owner.ts';
import { type Reply, hasStatus } from '../server.ts';

const clientsMax = 20;
/** More changes than a person makes; a service whose rate is higher is not made to answer 429. */
const changesMax = 1000;
const changesAtOnce = 20;

function createWith(kit: Kit, key: string | undefined): Promise<Reply> {
  return kit.owner.send({
    method: 'POST',
    path: kit.owner.path('m2m'),
    json: { name: 'Conformance', profile: 'observe' },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });
}

export const limitChecks: readonly Check[] = [
  ownerCheck('4.3-client-key', 'creating a client needs an Idempotency-Key', async (kit) => {
    hasStatus(await createWith(kit, undefined), 400);
  }),
  ownerCheck(
    '8-key-length',
    'keys of 8 and 256 characters are good, 7 and 257 are not',
    async (kit) => {
      for (const length of [7, 257]) {
        hasStatus(await createWith(kit, newKey().padEnd(300, 'x').slice(-length)), 400);
      }
      for (const length of [8, 256]) {
        const key = newKey().slice(-8).padEnd(length, 'x');
        const { id } = kit.owner.keep(hasStatus(await createWith(kit, key), 201));
        hasStatus(await kit.owner.delete(`m2m/${id}`), 204, 202);
      }
    },
  ),
  {
    ...ownerCheck('8-clients', 'the 21st client is a conflict', async (kit) => {
      const { body } = hasStatus(await kit.owner.get('m2m'), 200);
      const free = clientsMax - listAt(body, 'clients').length;
      const made: string[] = [];
      for (let count = 0; count < free; count += 1) {
        made.push((await kit.owner.makeClient({ profile: 'observe' })).id);
      }
      hasStatus(await createWith(kit, newKey()), 409);
      for (const id of made) hasStatus(await kit.owner.delete(`m2m/${id}`), 204, 202);
      const { id } = await kit.owner.makeClient({ profile: 'observe' });
      hasStatus(await kit.owner.delete(`m2m/${id}`), 204, 202);
    }),
    isAlone: true,
  },
  {
    ...ownerCheck('8-mutation-rate', 'changes above the rate answer 429', async (kit) => {
      // Refused as stale, so that nothing changes.
      const { id } = await kit.owner.makeClient({ profile: 'observe' });
      const path = kit.owner.path(`m2m/${id}`);
      const json = { version: 1_000_000, name: 'Stale' };
      const change = () => kit.owner.sendOnce({ method: 'PATCH', path, json });
      for (let sent = 0; sent < changesMax; sent += changesAtOnce) {
        const replies = await Promise.all(Array.from({ length: changesAtOnce }, change));
        ensure(
          replies.every(({ status }) => status < 500),
          'a change failed',
        );
        if (replies.some(({ status }) => status === 429)) return;
      }
      throw new NotExercised(`${changesMax} changes did not exceed the rate`);
    }),
    isAlone: true,
  },
];
