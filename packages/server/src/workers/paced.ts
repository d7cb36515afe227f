import type { Clock } from '../ports/clock.ts';

/** Calls `act` at once, and then at most once in each `everyMs`: calls in between become one. */
export function paced(clock: Pick<Clock, 'after'>, everyMs: number, act: () => void): () => void {
  let isResting = false;
  let isWanted = false;
  const call = () => {
    if (isResting) {
      isWanted = true;
      return;
    }
    isResting = true;
    isWanted = false;
    act();
    clock.after(everyMs, () => {
      isResting = false;
      if (isWanted) call();
    });
  };
  return call;
}
