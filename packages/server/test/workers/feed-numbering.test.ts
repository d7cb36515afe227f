import { describe, expect, test } from 'vitest';
import { FeedFollower, type NoticeBatch } from '../../src/app/feed/feed.ts';
import { announce } from '../../src/app/feed/notices.ts';
import type { NoticeDraft } from '../../src/domain/notice.ts';
import type { TenantScope } from '../../src/domain/scope.ts';
import type { Store, StoreTransaction } from '../../src/ports/store.ts';
import { createStore } from '../../src/store/store.ts';
import { numberingPass } from '../../src/workers/number-notices.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../support/databases.ts';
import { type RunFixture, createRunFixture } from '../support/run-fixture.ts';

const writers = 16;
const perWriter = 15;
const total = writers * perWriter;

/** Numbers between 0 and 1, the same for the same seed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The statements of numbering: lock the feed, take from the outbox, append to the feed. */
const seats = [1, 2, 3, 'after'] as const;
type Seat = (typeof seats)[number];

class Killed extends Error {}

/**
 * A store whose transactions end at a chosen call, as if the server died there; `after` is a commit whose answer is
 * lost.
 */
function mortal(store: Store, nextSeat: () => Seat | undefined): Store {
  return {
    ...store,
    read: store.read,
    async transaction(work) {
      const seat = nextSeat();
      let calls = 0;
      const step = () => {
        calls += 1;
        if (calls === seat) throw new Killed('killed');
      };
      const result = await store.transaction((tx) => work(counting(tx, step)));
      if (seat === 'after') throw new Killed('killed after the commit');
      return result;
    },
  };
}

/** Calls `step` before every statement of numbering. */
function counting(tx: StoreTransaction, step: () => void): StoreTransaction {
  const counted = <T extends object>(repository: T): T =>
    new Proxy(repository, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]) => {
          step();
          return Reflect.apply(member, target, given);
        };
      },
    });
  return new Proxy(tx, {
    get(target, name) {
      if (name === 'feeds' || name === 'outbox') return counted(target[name]);
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** As many stores on one database as there are servers. */
async function serversOn(world: RunFixture, kind: DatabaseKind): Promise<readonly Store[]> {
  if (kind === 'sqlite') return [world.store];
  const others = await Promise.all(
    [1, 2].map(() => openTestDatabase('postgres', { location: world.location })),
  );
  return [world.store, ...others.map((database) => createStore(database))];
}

async function write(world: RunFixture, stores: readonly Store[], scope: TenantScope) {
  const writing = Array.from({ length: writers }, async (_, writer) => {
    for (let n = 0; n < perWriter; n += 1) {
      const store = stores[(writer + n) % stores.length] ?? world.store;
      const notice: NoticeDraft = { type: 'run_queued', at: n, data: { writer, n } };
      await store.transaction(async (tx) =>
        announce(world, tx, { tenantId: scope.tenantId, notices: [notice] }),
      );
    }
  });
  await Promise.all(writing);
}

/** Follows the feed over connections that end anywhere, until it has read everything. */
async function read(follower: FeedFollower, scope: TenantScope, random: () => number) {
  const seen: { seq: number; body: string }[] = [];
  while (seen.length < total) {
    const cut = new AbortController();
    const patience = 1 + Math.floor(random() * 4);
    let batches = 0;
    const take = ({ notices }: NoticeBatch) => {
      seen.push(...notices);
      batches += 1;
      if (batches >= patience || seen.length >= total) cut.abort();
      return undefined;
    };
    await follower.follow(scope, { after: seen.at(-1)?.seq ?? 0, take, signal: cut.signal });
  }
  return seen;
}

describe.each(databaseKinds)('numbering on %s', (kind) => {
  test('a death at any of its statements loses no notice and numbers none twice (D-111)', async () => {
    const world = await createRunFixture(kind);
    const { tenantId } = world.scope;
    for (const seat of seats) {
      const notice: NoticeDraft = { type: 'run_queued', at: 1, data: { seat } };
      await world.store.transaction(async (tx) =>
        announce(world, tx, { tenantId, notices: [notice] }),
      );
      const dying = numberingPass({ ...world, store: mortal(world.store, () => seat) });
      await expect(dying()).rejects.toThrow(Killed);
    }
    await numberingPass(world)();
    const told = await world.store.read.feeds.after(world.scope, 0, 10);
    expect(told.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(told.map(({ body }) => JSON.parse(body).data.seat)).toEqual(seats);
  });

  test('of three servers that keep dying gives every notice one number, without a hole, each writer in its order (D-114)', async () => {
    const world = await createRunFixture(kind);
    const other = await world.seed.tenant(world.scope.organizationId);
    const scopes = [world.scope, { ...world.scope, tenantId: other.id }];
    const stores = await serversOn(world, kind);
    const random = chance(11);
    let isOver = false;
    const nextSeat = () => {
      const drawn = Math.floor(random() * (seats.length + 2));
      return seats[drawn];
    };
    const numbering = stores.map(async (store) => {
      const pass = numberingPass({ ...world, store: mortal(store, nextSeat) });
      while (!isOver) {
        await pass().catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error;
        });
        await turn();
      }
    });
    const reading = scopes.map((scope, index) =>
      read(new FeedFollower(world), scope, chance(index + 3)),
    );
    await Promise.all(scopes.map((scope) => write(world, stores, scope)));
    const followed = await Promise.all(reading);
    isOver = true;
    await Promise.all(numbering);

    for (const [index, scope] of scopes.entries()) {
      const table = await world.store.read.feeds.after(scope, 0, total + 1);
      expect(table.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, n) => n + 1));
      expect(followed[index]?.map(({ body }) => body)).toEqual(table.map(({ body }) => body));
      const told = table.map(({ body }) => JSON.parse(body).data as { writer: number; n: number });
      for (let writer = 0; writer < writers; writer += 1) {
        const own = told.filter((data) => data.writer === writer).map(({ n }) => n);
        expect(own).toEqual(Array.from({ length: perWriter }, (_, n) => n));
      }
    }
  });
});
