/** What a script can rely on. `--help` lists them. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  runFailed: 3,
  runCancelled: 4,
  refused: 5,
  unreachable: 6,
  interrupted: 130,
} as const;

const meanings: Record<keyof typeof exitCodes, string> = {
  failed: 'it failed, for the reason given',
  usage: 'the command or a setting is not right',
  runFailed: 'the run failed',
  runCancelled: 'the run was cancelled',
  refused: 'not logged in, or not allowed',
  unreachable: 'the server does not answer',
  interrupted: 'left with Ctrl-C',
};

export function exitCodesHelp(): string {
  const lines = Object.entries(meanings).map(
    ([name, meaning]) =>
      `  ${String(exitCodes[name as keyof typeof exitCodes]).padEnd(3)}  ${meaning}`,
  );
  return ['\nExit codes:', '  0    it is done', ...lines].join('\n');
}

/** A failure with a remedy: what to do next, in one line. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
