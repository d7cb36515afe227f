import { expect, test } from 'vitest';
import type { Fanout, Topic } from '../../src/ports/fanout.ts';
import { eventually } from '../support/eventually.ts';

/** The medium that carries wake-ups between servers. */
export interface Medium {
  /** Opens the fan-out of one more server. */
  join(): Promise<Fanout>;
  /** Breaks every connection; returns false where there is no connection. */
  interrupt(): Promise<boolean>;
}

/** The guarantees of every fan-out (architecture, idea 2). */
export function fanoutSuite(medium: () => Medium): void {
  /** Counts how often a subscriber was woken. */
  function listen(fanout: Fanout, topic: Topic) {
    const heard = { count: 0, leave: () => {} };
    heard.leave = fanout.subscribe(topic, () => (heard.count += 1));
    return heard;
  }

  /** Wakes until the subscriber is reached: a new subscription may take a while to be known to other servers. */
  const reaches = (from: Fanout, topic: Topic, heard: { count: number }) =>
    eventually(() => {
      from.wake(topic);
      return heard.count > 0;
    });

  test('a wake-up reaches every subscriber of its topic on every server, and no other', async () => {
    const [here, there] = [await medium().join(), await medium().join()];
    const own = listen(here, 'run:a');
    const theirs = listen(there, 'run:a');
    const second = listen(there, 'run:a');
    const other = listen(there, 'run:b');
    const woken = listen(there, 'work');
    // A new server wakes all subscribers; only wake-ups after that are for one topic.
    await reaches(here, 'work', woken);
    for (const heard of [own, theirs, second, other]) heard.count = 0;
    await reaches(here, 'run:a', theirs);
    expect(own.count).toBeGreaterThan(0);
    expect(second.count).toBe(theirs.count);
    expect(other.count).toBe(0);
  });

  test('a server wakes its own subscribers once, synchronously', async () => {
    const [here, there] = [await medium().join(), await medium().join()];
    const own = listen(here, 'control:a');
    const theirs = listen(there, 'control:a');
    const done = listen(here, 'control:done');
    await reaches(there, 'control:done', done);
    own.count = 0;
    here.wake('control:a');
    expect(own.count).toBe(1);
    await reaches(there, 'control:done', done);
    await eventually(() => theirs.count > 0);
    expect(own.count).toBe(1);
  });

  test('a subscriber that has left is no longer woken', async () => {
    const [here, there] = [await medium().join(), await medium().join()];
    const gone = listen(there, 'run:a');
    const stays = listen(there, 'run:b');
    await reaches(here, 'run:a', gone);
    gone.leave();
    const before = gone.count;
    stays.count = 0;
    here.wake('run:a');
    await reaches(here, 'run:b', stays);
    expect(gone.count).toBe(before);
  });

  test('thousands of wake-ups in one turn reach all their subscribers', async () => {
    const [here, there] = [await medium().join(), await medium().join()];
    const topics = Array.from({ length: 3000 }, (_, n): Topic => `run:many_${n}`);
    const heard = topics.map((topic) => listen(there, topic));
    const last = listen(there, 'work');
    await reaches(here, 'work', last);
    for (const topic of topics) here.wake(topic);
    await eventually(() => heard.every(({ count }) => count > 0));
    expect(last.count).toBeGreaterThan(0);
  });

  test('after a broken connection all subscribers are woken', async () => {
    const [here, there] = [await medium().join(), await medium().join()];
    const heard = listen(there, 'run:a');
    await reaches(here, 'run:a', heard);
    heard.count = 0;
    if (await medium().interrupt()) {
      // No server wakes: the reconnect does.
      await eventually(() => heard.count > 0);
    }
    heard.count = 0;
    await reaches(here, 'run:a', heard);
    expect(heard.count).toBeGreaterThan(0);
  });

  test('a closed fan-out receives nothing, and waking through it does not throw', async () => {
    const [here, there] = [await medium().join(), await medium().join()];
    const heard = listen(there, 'run:a');
    await there.close();
    here.wake('run:a');
    there.wake('run:a');
    expect(heard.count).toBe(0);
  });
}
