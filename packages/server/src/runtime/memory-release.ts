import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const mebibyte = 1024 * 1024;
/** How long the process has to be at rest. */
const restMs = 5000;
/** The part of that time in which its thread may have been busy. */
const busyShareMax = 0.1;
/** What the process must hold beyond what the last collection left: less is not worth a collection. */
const worthBytes = 16 * mebibyte;
/** A collection stops the thread for some milliseconds per mebibyte in use, so larger heaps are left to V8. */
const heapMaxBytes = 192 * mebibyte;

/**
 * Returns memory to the system whenever the process is at rest. V8 collects when something is allocated, and keeps the
 * pages: a server would hold the memory of its start, and later of its busiest minute, for as long as it has little to do.
 * The timer does not keep the process alive.
 */
export function releaseMemoryAtRest(intervalMs: number = restMs): void {
  let leftBytes = 0;
  let before = performance.eventLoopUtilization();
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const { rss, heapUsed } = process.memoryUsage();
    if (utilization > busyShareMax) return;
    if (rss < leftBytes + worthBytes || heapUsed > heapMaxBytes) return;
    collectAll();
    leftBytes = process.memoryUsage.rss();
  };
  setInterval(look, intervalMs).unref();
}

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** Only this flavor returns pages; a plain collection keeps them for later allocations. */
function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  collect({ type: 'major', flavor: 'last-resort' });
}
