/**
 * How long a caller waits, counted in the processor time of this process until it has its answer, in microseconds: the
 * median of several calls. Work of the server that comes first counts; other programs on the machine do not, so that
 * the figure is nearly the same on a busy one.
 */
export async function medianWork(calls: number, call: () => Promise<unknown>): Promise<number> {
  const works: number[] = [];
  for (let count = 0; count < calls; count += 1) {
    const before = process.cpuUsage();
    await call();
    const { user, system } = process.cpuUsage(before);
    works.push(user + system);
  }
  return works.toSorted((a, b) => a - b)[Math.floor(calls / 2)] ?? 0;
}

/** Processor time that this thread spends on the work, in microseconds. */
export function workOf(act: () => unknown): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(1, user + system);
}

/**
 * The longest time for which this thread did nothing else while the work was done, counted in its processor time, in
 * microseconds: what any other caller would have waited.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let before = process.threadCpuUsage();
  const note = () => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, user + system);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(note);
  };
  setImmediate(note);
  await work();
  isOver = true;
  note();
  return longest;
}

const triesMax = 8;

/**
 * Measures up to eight times, until a figure is below the goal, and returns the least. Collections of garbage,
 * compilers and other programs only add to a figure, so one below the goal shows what the work itself needs; work that
 * needs more is above it every time.
 */
export async function leastOf(
  measure: () => Promise<number> | number,
  { below }: { readonly below: number },
): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < triesMax && least >= below; tries += 1) {
    least = Math.min(least, await measure());
  }
  return least;
}
