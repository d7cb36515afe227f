import type { Services } from '../app/services.ts';
import type { Agent } from '../domain/agent.ts';
import { type Run, executedMsOf } from '../domain/run/run.ts';

export interface TimeLimit {
  readonly run: Run;
  readonly agent: Agent;
  readonly onTimeout: () => void;
}

/**
 * Calls `onTimeout` when the legs of the run together take longer than the agent's `run_seconds` (D-95). Time in which
 * a live runtime waits for a person does not count: `wait_hours` bounds it. Returns the function that ends it.
 */
export function limitRunTime(
  { store, clock, log }: Pick<Services, 'store' | 'clock' | 'log'>,
  { run, agent, onTimeout }: TimeLimit,
): () => void {
  const limitMs = agent.limits.runSeconds * 1000;
  let cancelTimer = () => {};
  let isOver = false;
  const check = async () => {
    // While the run cannot be read the limit counts: an outage must not let an agent work on.
    const seen = await store.read.runs.findById(run, run.id).catch(() => undefined);
    if (isOver) return;
    const leftMs = limitMs - (seen === undefined ? limitMs : executedMsOf(seen, clock.now()));
    if (leftMs > 0) start(leftMs);
    else onTimeout();
  };
  const start = (leftMs: number) => {
    cancelTimer = clock.after(leftMs, () => {
      check().catch((error: unknown) =>
        log.error('run timeout check failed', error, { run_id: run.id }),
      );
    });
  };
  start(Math.max(limitMs - executedMsOf(run, clock.now()), 0));
  return () => {
    isOver = true;
    cancelTimer();
  };
}
