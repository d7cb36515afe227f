import { LoadProcess } from '../load-process.ts';
import type { Figures, Scale } from '../scenario.ts';
import { starts } from '../scenarios/starts.ts';
import { sliceWithBackends } from './backends.ts';
import { measurePgbench } from './pgbench.ts';
import { Service } from './service.ts';

export interface StartFigures {
  readonly convoke: readonly Figures[];
  readonly reference: readonly Figures[];
  /** Runs per second, a figure for each round; empty where there is no `pgbench`. */
  readonly pgbench: readonly number[];
}

const pgbenchSeconds = { full: 5, quick: 2, smoke: 1 };

/** Run starts of one server on PostgreSQL beside the reference and `pgbench`, in rounds after one that warms up. */
export async function measureStarts(scale: Scale, rounds: number): Promise<StartFigures> {
  const one = {
    roles: ['api,worker'],
    wakeups: 'postgres',
    agents: starts.agents(scale),
  } as const;
  await using convoke = await Service.start(one);
  await using reference = await Service.start({ ...one, name: 'ref:postgres' });
  const load = new LoadProcess();
  const taken = { convoke: [] as Figures[], reference: [] as Figures[], pgbench: [] as number[] };
  try {
    for (let round = scale === 'smoke' ? 1 : 0; round <= rounds; round += 1) {
      const mine = await sliceWithBackends(load, convoke, { scenario: starts, scale });
      const other = await sliceWithBackends(load, reference, { scenario: starts, scale });
      const alone = await measurePgbench(reference.databaseUrl, pgbenchSeconds[scale]);
      if (round === 0) continue;
      taken.convoke.push(mine);
      taken.reference.push(other);
      if (alone !== undefined) taken.pgbench.push(alone);
    }
  } finally {
    await load.stop();
  }
  return taken;
}
