import { type Run, isEnded } from '../../src/domain/run/run.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import { calledRuns, completed } from './calling-runs.ts';
import { Death, type MortalLegs } from './mortal-legs.ts';
import { delta, hour } from './run-fixture.ts';

/** More legs, recoveries and waits than a run of these tests has. */
const turnsMax = 40;

interface WaitingRun {
  readonly prompt: string;
  /** How the worker of one of its legs dies. */
  readonly death: Death;
  /** Which leg, from 0. */
  readonly leg: number;
}

/** Starts a run, lets each thing that it waits for come, and returns it once it has ended. */
export async function finishWaiting(
  legs: MortalLegs,
  { prompt, death, leg }: WaitingRun,
): Promise<Run> {
  const { world } = legs;
  const client = (await world.seed.client(world.scope.organizationId)).record.id;
  const run = await world.start(await world.open(), prompt, client);
  let begun = 0;
  for (let turn = 0; turn < turnsMax; turn += 1) {
    const now = await world.read(run);
    if (isEnded(now)) return now;
    if (now.lease !== null) await legs.recover();
    else if (now.status === 'running' && now.readyAt === null && now.continueAt === null) {
      await letCome(legs, now);
    } else {
      await legs.execute(now, begun === leg ? death : new Death());
      begun += 1;
    }
  }
  throw new Error('the run does not end');
}

/** One of the called runs ends, or else an hour passes. */
async function letCome({ world }: MortalLegs, run: Run): Promise<void> {
  const open = (await calledRuns(world, run)).find((called) => !isEnded(called));
  if (open === undefined) {
    world.clock.advance(hour);
    await settleWaits(world);
    return;
  }
  const text = 'About it.';
  await world.record(await world.claimed(open), { items: [delta(text)], end: completed(text) });
}
