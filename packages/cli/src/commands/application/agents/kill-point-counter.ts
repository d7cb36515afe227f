import { endLine, remark } from '../../../terminal/output.ts';
import { clearSpinner } from '../../../terminal/spinner.ts';

interface KillPoint {
  readonly killPoint: number;
  readonly killPoints: number;
}

/** Shows which kill point a rehearsal is at, and how long the others take (D-450). */
export class KillPointCounter {
  readonly #isSilent: boolean;
  #begunAt = 0;

  /** Silent in a script whose output a program reads. */
  constructor(isSilent: boolean) {
    this.#isSilent = isSilent;
  }

  /** Overwrites its line on a terminal; in a script every tenth of the way is a line, so that a log shows progress. */
  show({ killPoint, killPoints }: KillPoint): void {
    if (killPoint === 1) {
      this.#begunAt = performance.now();
      endLine();
    }
    const text = killPointLine({ killPoint, killPoints }, performance.now() - this.#begunAt);
    if (process.stderr.isTTY) return overwrite(text);
    const tenth = Math.ceil(killPoints / 10);
    if (!this.#isSilent && (killPoint - 1) % tenth === 0) remark(text, 'dim');
  }

  end(): void {
    if (process.stderr.isTTY) overwrite('');
  }
}

/** `ms` is the time that the kill points before this one took: after a few of them the rest can be estimated. */
export function killPointLine({ killPoint, killPoints }: KillPoint, ms: number): string {
  const at = `try ${killPoint} of ${killPoints}`;
  const done = killPoint - 1;
  if (done < 3) return at;
  const seconds = Math.ceil(((ms / done) * (killPoints - done)) / 1000);
  return `${at}, ${seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} left`;
}

function overwrite(text: string): void {
  clearSpinner();
  process.stderr.write(`\r\u001b[K${text}`);
}
