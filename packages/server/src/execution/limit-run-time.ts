import type { Services } from '../app/services.ts';
import type { Agent } from '../domain/agent.ts';
import type { Run } from '../domain/run.ts';

export interface TimeLimit {
  readonly run: Run;
  readonly agent: Agent;
  readonly onTimeout: () => void;
}

/**
 * Calls `onTimeout` when the leg takes longer than the agent's `run_seconds`. A live runtime that waits for a person
 * does not work: the limit starts again then, and `wait_hours` bounds the wait. Returns the function that ends it.
 */
export function limitRunTime(
  { store, clock, log }: Pick<Services, 'store' | 'clock' | 'log'>,
  { run, agent, onTimeout }: TimeLimit,
): () => void {
  let cancelTimer = () => {};
  let isOver = false;
  const isWaiting = async () => {
    // While the run cannot be read the limit counts: an outage must not let an agent work on.
    const seen = await store.read.runs.findById(run, run.id).catch(() => undefined);
    return seen?.status === 'waiting';
  };
  const check = async () => {
    if (!(await isWaiting())) onTimeout();
    else if (!isOver) start();
  };
  const start = () => {
    cancelTimer = clock.after(agent.limits.runSeconds * 1000, () => {
      check().catch((error: unknown) =>
        log.error('run timeout check failed', error, { run_id: run.id }),
      );
    });
  };
  start();
  return () => {
    isOver = true;
    cancelTimer();
  };
}
