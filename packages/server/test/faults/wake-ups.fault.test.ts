import { formatEventId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Repositories, Store } from '../../src/ports/store.ts';
import { begin, ended, follow, readRun } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { type TestServer, startServer } from '../support/server.ts';

type ReadEvents = Repositories['runEvents']['after'];

/** A slow database: a result may be out of date when it arrives. */
class SlowReads {
  #held: { isReached: () => void; answer: Promise<void> } | undefined;

  /** Delays the next read of events until the test releases it. */
  holdNext(): { reached: Promise<void>; answer: () => void } {
    const reached = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    this.#held = { isReached: reached.resolve, answer: answered.promise };
    return { reached: reached.promise, answer: answered.resolve };
  }

  wrap = (store: Store): Store => {
    const runEvents = {
      ...store.read.runEvents,
      after: (async (...question) => {
        const held = this.#held;
        this.#held = undefined;
        const events = await store.read.runEvents.after(...question);
        held?.isReached();
        await held?.answer;
        return events;
      }) satisfies ReadEvents,
    };
    const read = new Proxy(store.read, {
      get: (target, name) =>
        name === 'runEvents' ? runEvents : (Reflect.get(target, name, target) as unknown),
    });
    return { ...store, read };
  };
}

describe('a reader that waits for more', () => {
  const reads = new SlowReads();
  const puppet = new Puppet();
  let server: TestServer;
  beforeAll(async () => {
    const agents = { puppet: puppet.agent() };
    server = await startServer({ harnesses: [puppet], agents, wrapStore: reads.wrap });
  });

  test('hears of what was written while it was still reading', async () => {
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    leg.say('first');
    // No other reader may follow: a reader skips its query when another one is caught up at the same event.
    const second = formatEventId(2);
    const id = await eventually(
      async () => (await readRun(server, run)).last_event_id === second && second,
    );

    const slow = reads.holdNext();
    const reader = await follow(server, run, id);
    await slow.reached;
    leg.end();
    await ended(server, run);
    slow.answer();
    expect((await reader.all()).map(({ event }) => event)).toEqual(['run_completed']);
  });

  test('is not left behind by one that came later and read further', async () => {
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    leg.say('first');
    const early = await follow(server, run);
    const { id } = await early.until('message_delta');

    // The tail they share is woken and reads before the event that comes now, but is not answered yet.
    const slow = reads.holdNext();
    server.convoke.services.fanout.wake(`run:${run.id}`);
    await slow.reached;
    leg.emit({ type: 'custom', name: 'second', data: {} });
    // Durable, so that the late reader finds it by a read of its own: the tail would have it wait for the held one.
    const third = formatEventId(3);
    await eventually(async () => (await readRun(server, run)).last_event_id === third);
    const late = await follow(server, run, id);
    await late.until('puppet.second');
    slow.answer();

    expect((await early.until('puppet.second')).event).toBe('puppet.second');
    leg.end();
    expect((await late.all()).at(-1)?.event).toBe('run_completed');
  });
});
