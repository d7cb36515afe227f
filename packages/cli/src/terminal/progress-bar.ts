import type { Progress } from '@convoke/sdk';
import { clearSpinner } from './spinner.ts';

const barWidth = 24;

export interface ProgressBar {
  readonly update: (progress: Progress) => void;
  readonly end: () => void;
}

/** Draws on standard error if it is a terminal; silent in a script. */
export function progressBar(name: string): ProgressBar {
  if (!process.stderr.isTTY) return { update: () => {}, end: () => {} };
  return {
    update({ sentBytes, totalBytes }) {
      clearSpinner();
      const part = totalBytes === undefined || totalBytes === 0 ? 1 : sentBytes / totalBytes;
      const filled = Math.round(part * barWidth);
      const bar = '█'.repeat(filled).padEnd(barWidth, '░');
      process.stderr.write(`\r${bar} ${Math.round(part * 100)}% ${name}`);
    },
    end: () => process.stderr.write('\r\u001b[K'),
  };
}
