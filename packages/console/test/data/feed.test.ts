import type { NoticeRecord } from '@convoke/sdk';
import { expect, test } from 'vitest';
import {
  type FeedChannel,
  type FeedMessage,
  type FeedParts,
  type FeedState,
  followFeed,
} from '../../src/data/feed.ts';

function notice(id: number): NoticeRecord {
  const text = String(id).padStart(16, '0');
  return { id: text, type: 'run_started', created_at: '2026-11-15T12:00:00Z', data: {} };
}

/** What the tabs of one browser share: a lock, a channel, a server with a log. */
class Browser {
  readonly log: NoticeRecord[] = [];
  connections = 0;
  failNext = false;
  lost = false;
  refuses = false;
  readonly #receivers = new Set<(message: FeedMessage) => void>();
  readonly #readers = new Set<() => void>();
  #turn: Promise<void> = Promise.resolve();

  append(id: number): void {
    this.log.push(notice(id));
    for (const wake of this.#readers) wake();
  }

  /** Breaks every connection. */
  breakAll(): void {
    this.failNext = true;
    for (const wake of this.#readers) wake();
  }

  open() {
    const seen: string[] = [];
    const states: FeedState[] = [];
    const stop = new AbortController();
    let lost = 0;
    let accesses = 0;
    const done = followFeed(
      this.#parts(),
      {
        onNotice: ({ id }) => seen.push(String(Number(id))),
        onState: (state) => states.push(state),
        onLost: () => {
          lost += 1;
        },
        onAccess: () => {
          accesses += 1;
        },
      },
      stop.signal,
    );
    return {
      seen,
      states,
      get lost() {
        return lost;
      },
      get accesses() {
        return accesses;
      },
      close: async () => {
        stop.abort();
        for (const wake of this.#readers) wake();
        await done;
      },
      done,
    };
  }

  #parts(): FeedParts {
    return {
      lock: (hold, signal) => this.#lock(hold, signal),
      channel: this.#channel(),
      connect: (after, { signal, onOpen }) => this.#read(after, signal, onOpen),
      pause: () => Promise.resolve(),
      isCursorLost: (error) => error === 'cursor',
      isFinal: (error) => error === 'final',
    };
  }

  async #lock(hold: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const before = this.#turn;
    let release = () => {};
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    try {
      if (!signal.aborted) await hold();
    } finally {
      release();
    }
  }

  #channel(): FeedChannel {
    let own: ((message: FeedMessage) => void) | undefined;
    return {
      post: (message) => {
        for (const receive of this.#receivers) if (receive !== own) receive(message);
      },
      listen: (receive) => {
        own = receive;
        this.#receivers.add(receive);
        return () => this.#receivers.delete(receive);
      },
    };
  }

  async *#read(after: string | undefined, signal: AbortSignal, onOpen: () => void) {
    this.connections += 1;
    if (this.refuses) throw 'final' as unknown as Error;
    if (this.lost) {
      this.lost = false;
      throw 'cursor' as unknown as Error;
    }
    onOpen();
    let next = after === undefined ? this.log.length : this.log.findIndex(({ id }) => id > after);
    if (next === -1) next = this.log.length;
    while (!signal.aborted) {
      if (this.failNext) {
        this.failNext = false;
        throw new Error('broken');
      }
      const entry = this.log[next];
      if (entry !== undefined) {
        next += 1;
        yield entry;
        continue;
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#readers.delete(wake);
          resolve();
        };
        this.#readers.add(wake);
      });
    }
  }
}

test('seven tabs follow the feed over one connection, and all hear everything (console §4)', async () => {
  const browser = new Browser();
  const tabs = Array.from({ length: 7 }, () => browser.open());
  await expect.poll(() => tabs.at(-1)?.states).toEqual(['live']);
  browser.append(1);
  browser.append(2);
  for (const tab of tabs) await expect.poll(() => tab.seen).toEqual(['1', '2']);
  expect(browser.connections).toBe(1);
  for (const tab of tabs) await tab.close();
});

test('when the reading tab closes, the next one continues without a gap or a repeat', async () => {
  const browser = new Browser();
  const first = browser.open();
  const second = browser.open();
  await expect.poll(() => first.states).toEqual(['live']);
  browser.append(1);
  await expect.poll(() => second.seen).toEqual(['1']);
  await first.close();
  browser.append(2);
  await expect.poll(() => second.seen).toEqual(['1', '2']);
  expect(first.seen).toEqual(['1']);
  await second.close();
});

test('a lost connection is shown, and the feed is followed again from the last notice', async () => {
  const browser = new Browser();
  const tab = browser.open();
  await expect.poll(() => tab.states).toEqual(['live']);
  browser.append(1);
  await expect.poll(() => tab.seen).toEqual(['1']);
  browser.breakAll();
  browser.append(2);
  await expect.poll(() => tab.seen).toEqual(['1', '2']);
  expect(tab.states).toEqual(['live', 'reconnecting', 'live']);
  await tab.close();
});

test('after a cursor that is no longer kept, every list is read again (D-113, D-156)', async () => {
  const browser = new Browser();
  browser.lost = true;
  const tab = browser.open();
  await expect.poll(() => tab.states.at(-1)).toBe('live');
  expect(tab.lost).toBe(1);
  await tab.close();
});

test('every tab hears that a connection was opened again or refused: the person may have another role, or none (D-791)', async () => {
  const browser = new Browser();
  const tabs = [browser.open(), browser.open()];
  await expect.poll(() => tabs[1]?.states).toEqual(['live']);
  expect(tabs.map(({ accesses }) => accesses)).toEqual([0, 0]);
  browser.breakAll();
  for (const tab of tabs) await expect.poll(() => tab.accesses).toBe(1);
  browser.refuses = true;
  browser.breakAll();
  for (const tab of tabs) await expect.poll(() => tab.accesses).toBeGreaterThan(1);
  for (const tab of tabs) await tab.close();
});
