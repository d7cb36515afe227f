/** Exit codes are an interface for scripts. `--help` lists them. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  runFailed: 3,
  runCancelled: 4,
  refused: 5,
  unreachable: 6,
  unfinished: 7,
  interrupted: 130,
} as const;

const meanings: Record<keyof typeof exitCodes, string> = {
  failed: 'failed; see the error message',
  usage: 'invalid command or setting',
  runFailed: 'the run failed',
  runCancelled: 'the run was cancelled',
  refused: 'not logged in, or not allowed',
  unreachable: 'the server cannot be reached',
  unfinished: 'the run was left: it is waiting for an answer or still running',
  interrupted: 'interrupted with Ctrl-C',
};

export function exitCodesHelp(): string {
  const lines = Object.entries(meanings).map(
    ([name, meaning]) =>
      `  ${String(exitCodes[name as keyof typeof exitCodes]).padEnd(3)}  ${meaning}`,
  );
  return ['\nExit codes:', '  0    success', ...lines].join('\n');
}

/** An error for the user: one line with the problem and what to do about it. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
