import { endLine, remark } from '../../../terminal/output.ts';
import { clearSpinner } from '../../../terminal/spinner.ts';

interface Seat {
  readonly seat: number;
  readonly seats: number;
}

/** Says at which seat a rehearsal with kills is, and how long the others take (D-450). */
export class SeatCounter {
  readonly #isSilent: boolean;
  #begunAt = 0;

  /** Silent in a script whose output a program reads. */
  constructor(isSilent: boolean) {
    this.#isSilent = isSilent;
  }

  /** Overwrites its line on a terminal; in a script every tenth of the way is a line, so that a log shows progress. */
  show({ seat, seats }: Seat): void {
    if (seat === 1) {
      this.#begunAt = performance.now();
      endLine();
    }
    const text = seatLine({ seat, seats }, performance.now() - this.#begunAt);
    if (process.stderr.isTTY) return overwrite(text);
    const tenth = Math.ceil(seats / 10);
    if (!this.#isSilent && (seat - 1) % tenth === 0) remark(text, 'dim');
  }

  end(): void {
    if (process.stderr.isTTY) overwrite('');
  }
}

/** The seats before this one took that long together: after a few of them the rest can be estimated. */
export function seatLine({ seat, seats }: Seat, ms: number): string {
  const at = `try ${seat} of ${seats}`;
  const done = seat - 1;
  if (done < 3) return at;
  const seconds = Math.ceil(((ms / done) * (seats - done)) / 1000);
  return `${at}, ${seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} left`;
}

function overwrite(text: string): void {
  clearSpinner();
  process.stderr.write(`\r\u001b[K${text}`);
}
