/**
 * How long a caller waits, counted in the processor time of this process until it has its answer, in microseconds: the
 * median of several calls. Work of the server that comes first counts; other programs on the machine do not, so that the
 * figure is the same on a busy one.
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
