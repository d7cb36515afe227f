import type { RunHandle } from '@convoke/sdk';
import { exitCodes } from '../failure.ts';
import { remark } from './output.ts';
import { interrupted, readLine } from './read-line.ts';

/** What Ctrl-C does while a run is followed. */
export interface Interrupts {
  /** Handles Ctrl-C. Returns whether the run is still followed or that is over. */
  readonly raise: () => Promise<'on' | 'over'>;
  /** Resolves when the person is not being asked about Ctrl-C: nothing is shown in the meantime. */
  readonly settled: () => Promise<unknown>;
  /** Runs a program at the terminal, whose Ctrl-C is its own. */
  readonly yieldTo: <T>(program: () => Promise<T>) => Promise<T>;
  readonly stop: () => void;
}

interface InterruptParts {
  readonly run: RunHandle;
  /** Whether a person can be asked; a script's run is cancelled. */
  readonly isAttended: boolean;
  /** Stops following; the run continues. */
  readonly leave: () => void;
}

/**
 * Asks at the first Ctrl-C whether to cancel the run or to leave it running. A second one exits at once, whatever the
 * state of the run.
 */
export function watchInterrupts({ run, isAttended, leave }: InterruptParts): Interrupts {
  let isCancelling = false;
  let isElsewhere = false;
  let asking: Promise<'on' | 'over'> | undefined;

  const cancel = (): 'over' => {
    isCancelling = true;
    remark('cancelling (press Ctrl-C again to exit)…');
    run.cancel().catch((error: unknown) => remark(`could not cancel: ${String(error)}`));
    return 'over';
  };
  const choose = async (): Promise<'on' | 'over'> => {
    for (;;) {
      const said = await readLine('\n  [c]ancel the run, [l]eave it running or [k]eep watching? ');
      if (said === interrupted) process.exit(exitCodes.interrupted);
      if (said === undefined || /^l(eave)?$/i.test(said)) {
        leave();
        return 'over';
      }
      if (/^c(ancel)?$/i.test(said)) return cancel();
      if (/^k(eep watching)?$/i.test(said)) return 'on';
    }
  };
  const raise = async (): Promise<'on' | 'over'> => {
    if (isCancelling || asking !== undefined) process.exit(exitCodes.interrupted);
    if (!isAttended) return cancel();
    asking = choose();
    try {
      return await asking;
    } finally {
      asking = undefined;
    }
  };
  const onSignal = () => {
    if (!isElsewhere) raise().catch((error: unknown) => remark(String(error)));
  };
  process.on('SIGINT', onSignal);
  return {
    raise,
    settled: async () => asking,
    async yieldTo(program) {
      isElsewhere = true;
      try {
        return await program();
      } finally {
        isElsewhere = false;
      }
    },
    stop: () => process.off('SIGINT', onSignal),
  };
}
