import { Death, type Moment } from './mortal-legs.ts';

/** Far more legs and commits than a run has: the walk ends when a seat is not reached any more. */
const legsMax = 6;
const commitsMax = 60;

/**
 * Has something happen at each commit of each leg of a run, one run for each: `play` has the run end under these fates,
 * one a leg. Returns how many seats there were.
 */
export async function atEverySeat(
  fateAt: (commit: number) => Death | Moment,
  play: (seat: string, fates: readonly (Death | Moment)[]) => Promise<void>,
): Promise<number> {
  let seats = 0;
  for (let leg = 0; leg < legsMax; leg += 1) {
    for (let commit = 0; commit < commitsMax; commit += 1) {
      const fate = fateAt(commit);
      const untilThen = Array.from({ length: leg }, () => new Death());
      await play(`leg ${leg}, commit ${commit}`, [...untilThen, fate]);
      if (!fate.hasCome) break;
      seats += 1;
    }
  }
  return seats;
}
