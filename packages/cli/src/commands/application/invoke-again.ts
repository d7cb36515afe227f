import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError, type Convoke, ConvokeError, NotFoundError, type Run } from '@convoke/sdk';
import { consoleLink } from '../../console-link.ts';
import type { Following } from '../../options/following.ts';
import { followRun } from '../../terminal/follow-run.ts';
import { GivenAnswers } from '../../terminal/given-answers.ts';
import { remark } from '../../terminal/output.ts';
import { LoadProblems } from './agents/load-problems.ts';

const lookAgainMs = 300;

interface InvokedAgain {
  readonly convoke: Convoke;
  readonly agent: string;
  readonly start: () => Promise<Run>;
  readonly options: Following;
  readonly json: boolean;
}

/**
 * `convoke invoke --watch`: invokes an agent, and again each time the server has read a change of its folder. A run
 * that has not ended by then is cancelled, because its code is no longer the author's (D-356). Ctrl-C ends it.
 */
export async function invokeAgain(invoked: InvokedAgain): Promise<void> {
  const { convoke, agent, start, options, json } = invoked;
  const given = new GivenAnswers();
  const stopping = new AbortController();
  const problems = new LoadProblems(agent);
  let loadedAt = await loadOf(convoke, agent);
  for (;;) {
    if (loadedAt !== undefined) {
      const run = await start();
      remark(await consoleLink(convoke, run.id), 'dim');
      const changing = new AbortController();
      const cancelled = cancelOnChange({ convoke, agent, loadedAt, run }, changing.signal);
      const { stream = false } = options;
      const ended = await followRun(run, { convoke, json, stream, answering: options, given });
      changing.abort();
      const changed = await cancelled;
      if (ended === undefined) return;
      if (changed !== undefined) {
        loadedAt = changed.loadedAt;
        continue;
      }
    } else await problems.report();
    const next = await untilChanged({ convoke, agent, loadedAt, problems }, stopping);
    if (next === 'over') break;
    loadedAt = next.loadedAt;
  }
  // How a run ended says nothing about this command, which the person has ended.
  process.exitCode = 0;
}

interface WatchedAgent {
  readonly convoke: Convoke;
  readonly agent: string;
  /** When the server read the agent's folder; undefined while it cannot. */
  readonly loadedAt: string | undefined;
  /** Reported while it cannot: a repair may leave another mistake. */
  readonly problems?: LoadProblems;
}

type Change = Pick<WatchedAgent, 'loadedAt'>;

/** Returns the change, after which the run is cancelled; undefined if the run ends before there is one. */
async function cancelOnChange(
  { run, ...watched }: WatchedAgent & { readonly run: Run },
  signal: AbortSignal,
): Promise<Change | undefined> {
  let changed: Change | undefined;
  try {
    changed = { loadedAt: await changeOf(watched, signal) };
    remark('the agent has changed: cancelling this run', 'dim');
    await run.cancel();
  } catch (error) {
    // The run has ended before it could be cancelled.
    if (!signal.aborted && !(error instanceof ConvokeError)) throw error;
  }
  return changed;
}

async function untilChanged(
  watched: WatchedAgent,
  stopping: AbortController,
): Promise<Change | 'over'> {
  const stop = () => stopping.abort();
  process.once('SIGINT', stop);
  remark('waiting for a change (Ctrl-C ends)', 'dim');
  try {
    return { loadedAt: await changeOf(watched, stopping.signal) };
  } catch (error) {
    if (stopping.signal.aborted) return 'over';
    throw error;
  } finally {
    process.off('SIGINT', stop);
  }
}

/** Resolves when the server has read the folder again: only then does a run execute the new version. */
async function changeOf(
  { convoke, agent, loadedAt, problems }: WatchedAgent,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    await delay(lookAgainMs, undefined, { signal });
    try {
      const now = await loadOf(convoke, agent);
      if (now !== loadedAt) return now;
      if (now === undefined) await problems?.reportChanged();
    } catch (error) {
      // The server is being restarted.
      if (!(error instanceof ConnectionError)) throw error;
    }
  }
}

async function loadOf(convoke: Convoke, agent: string): Promise<string | undefined> {
  try {
    return (await convoke.agents.get(agent)).loaded_at;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
