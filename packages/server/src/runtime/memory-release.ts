import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const mebibyte = 1024 * 1024;
const lookEveryMs = 5000;
/** How many looks in a row have to find the process at rest: a minute. */
const looksAtRest = 12;
/** The part of the time between two looks in which the thread of a process at rest may be busy. */
const busyShareMax = 0.03;
/** A process whose thread was busy for less has just started, and has compiled little that it would miss. */
const freshMs = 3000;
/** What the process must hold beyond what the last collection left: less is not worth a collection. */
const worthBytes = 16 * mebibyte;
/** A collection stops the thread for some milliseconds per mebibyte in use, so larger heaps are left to V8. */
const heapMaxBytes = 192 * mebibyte;

/**
 * Returns memory to the system whenever the process is at rest. V8 collects when something is allocated, and keeps the
 * pages: a server would hold the memory of its start, and later of its busiest minute, for as long as it has little to
 * do. The timer does not keep the process alive.
 */
export function releaseMemoryAtRest(intervalMs: number = lookEveryMs): void {
  const rest = new Rest();
  let leftBytes = 0;
  let before = performance.eventLoopUtilization();
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization: busyShare } = performance.eventLoopUtilization(now, before);
    before = now;
    if (!rest.isLongEnough({ busyShare, busyMs: now.active })) return;
    const { rss, heapUsed } = process.memoryUsage();
    if (rss < leftBytes + worthBytes || heapUsed > heapMaxBytes) return;
    collectAll();
    rest.beginAgain();
    leftBytes = process.memoryUsage.rss();
  };
  setInterval(look, intervalMs).unref();
}

/**
 * Decides whether a process has been at rest for long enough. The collection also throws away compiled code, whose
 * types have no objects while nothing happens: the next few thousand runs take twice the processor time. So a pause
 * between requests is not enough.
 */
export class Rest {
  #looksAtRest = 0;

  /** Called once for each look, with how busy the thread was since the last one and in all. */
  isLongEnough({
    busyShare,
    busyMs,
  }: {
    readonly busyShare: number;
    readonly busyMs: number;
  }): boolean {
    this.#looksAtRest = busyShare > busyShareMax ? 0 : this.#looksAtRest + 1;
    return this.#looksAtRest >= (busyMs < freshMs ? 1 : looksAtRest);
  }

  beginAgain(): void {
    this.#looksAtRest = 0;
  }
}

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** Only this flavor returns pages; a plain collection keeps them for later allocations. */
function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  collect({ type: 'major', flavor: 'last-resort' });
}
