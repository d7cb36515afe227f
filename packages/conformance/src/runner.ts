import { exec } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Check, LaterCheck, RestartCheck } from './check.ts';
import { Failure, NotApplicable, NotExercised } from './failure.ts';
import type { Kit } from './kit.ts';
import type { CheckResult } from './results.ts';
import type { TimeLimits } from './time-limits.ts';

/** As many checks as a small service serves without others noticing (D-228). */
const atOnce = 4;
const restartMs = 120_000;
/** Between the halves of a check over time, where there are few checks in between. */
const laterMs = 3_000;
const commandOutputMax = 500;

export interface Plan {
  readonly checks: readonly Check[];
  readonly overTime: readonly LaterCheck[];
  readonly overRestart: readonly RestartCheck[];
  /** A command that exits when the server is back. */
  readonly restart: string | undefined;
  readonly limits: TimeLimits;
}

/**
 * Runs checks four at a time, then those over a restart, then those that have to be alone; those over time are around
 * all.
 */
export async function runPlan(kit: Kit, plan: Plan): Promise<CheckResult[]> {
  const { checks, overRestart, restart, limits } = plan;
  const shared = checks.filter(({ isAlone }) => !isAlone);
  const alone = checks.filter(({ isAlone }) => isAlone);
  const run = (each: Check) => outcomeOf(each, limits, () => runOne(kit, each));
  const finish = await beginOverTime(kit, plan);
  const results = await inParallel(shared, run);
  if (restart === undefined) {
    for (const { id, title } of overRestart) {
      results.push({ id, title, outcome: 'not exercised', message: 'needs --restart', ms: 0 });
    }
  } else results.push(...(await runOverRestart(kit, { ...plan, restart })));
  for (const each of alone) results.push(await run(each));
  return [...results, ...(await finish())];
}

async function runOne(kit: Kit, { needs, run }: Check): Promise<void> {
  if (needs.includes('owner') && !kit.hasOwner) throw new NotExercised('needs --owner-token');
  await run(kit);
}

/** Runs the first halves; the function it returns runs the second ones. */
async function beginOverTime(
  kit: Kit,
  { overTime, limits }: Plan,
): Promise<() => Promise<CheckResult[]>> {
  const begun = await inParallel(overTime, async (each) => {
    let after: Awaited<ReturnType<LaterCheck['before']>> | undefined;
    const result = await outcomeOf(each, limits, async () => {
      after = await each.before(kit);
    });
    return { each, result, after };
  });
  const begunAt = performance.now();
  return async () => {
    if (begun.length > 0) await pause(Math.max(0, begunAt + laterMs - performance.now()));
    return await inParallel(begun, async ({ each, result, after }) =>
      after === undefined ? result : await outcomeOf(each, limits, after),
    );
  };
}

/** All checks prepare, the command runs once, all checks look (D-230). */
async function runOverRestart(
  kit: Kit,
  { overRestart, restart, limits }: Plan & { readonly restart: string },
): Promise<CheckResult[]> {
  type After = Awaited<ReturnType<RestartCheck['before']>>;
  const prepared = new Map<RestartCheck, After>();
  const failed: CheckResult[] = [];
  const prepare = async (each: RestartCheck) => {
    const result = await outcomeOf(each, limits, async () => {
      prepared.set(each, await each.before(kit));
    });
    if (result.outcome !== 'pass') failed.push(result);
  };
  await inParallel(
    overRestart.filter(({ isLate }) => !isLate),
    prepare,
  );
  await inParallel(
    overRestart.filter(({ isLate }) => isLate),
    prepare,
  );
  const startedAt = Date.now();
  const problem = await runCommand(restart);
  const verified = await inParallel([...prepared], async ([each, after]) =>
    outcomeOf(each, limits, async () => {
      if (problem !== undefined) throw new Failure(problem);
      await after(kit, { startedAt });
    }),
  );
  return [...failed, ...verified];
}

async function runCommand(command: string): Promise<string | undefined> {
  try {
    await promisify(exec)(command, { timeout: restartMs });
    return undefined;
  } catch (error) {
    const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
    return `the command of --restart failed: ${(stderr || message).slice(-commandOutputMax)}`;
  }
}

async function outcomeOf(
  { id, title }: { readonly id: string; readonly title: string },
  limits: TimeLimits,
  run: () => Promise<void>,
): Promise<CheckResult> {
  const started = performance.now();
  const result = (outcome: CheckResult['outcome'], message?: string): CheckResult => {
    const ms = Math.round(performance.now() - started);
    return { id, title, outcome, ...(message !== undefined && { message }), ms };
  };
  if (limits.isOver) return result('not exercised', 'the time limit was over');
  try {
    await limits.within(run());
    return result('pass');
  } catch (error) {
    if (error instanceof NotApplicable) return result('not applicable', error.message);
    if (error instanceof NotExercised) return result('not exercised', error.message);
    if (error instanceof Failure) return result('fail', error.message);
    // A check that cannot read an answer throws; such an answer does not conform either.
    return result('fail', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const lane = async () => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}
