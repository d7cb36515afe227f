import { remark } from '../terminal/output.ts';
import { clearSpinner } from '../terminal/spinner.ts';

/** Tells a person who has started the command by hand that it waits for a client. */
export function noteTerminal(starter: 'an editor' | 'an assistant'): void {
  clearSpinner();
  if (!process.stdin.isTTY) return;
  remark(`waiting for ${starter}, which starts this command itself; Ctrl-C ends it`, 'dim');
}
