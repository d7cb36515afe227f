import { AuthenticationError, ConnectionError, ConvokeError, PermissionError } from '@convoke/sdk';
import { CommanderError } from 'commander';
import { remark } from './terminal.ts';

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

/** One line that says what was wrong and what to do; the whole story with --verbose. */
export function reportFailure(error: unknown, { verbose }: { verbose: boolean }): void {
  process.exitCode = exitCodeOf(error);
  // Commander has said it already.
  if (error instanceof CommanderError) return;
  remark(`convoke: ${messageOf(error)}`);
  if (verbose && error instanceof Error) remark(error.stack ?? '');
}

function messageOf(error: unknown): string {
  if (error instanceof ConnectionError) {
    return `${error.message} Is the server running? Start it with \`npm start\` or \`convoke dev\`.`;
  }
  if (error instanceof ConvokeError && error.code === 'ambiguous_workspace') {
    return 'your automation client reaches several tenants: choose one with `convoke use --tenant ten_…` (see `convoke workspaces`)';
  }
  if (error instanceof ConvokeError) {
    const reference = error.requestId === undefined ? '' : `, request ${error.requestId}`;
    return `${error.message}${adviceOn(error)} (${error.code}${reference})`;
  }
  return error instanceof Error ? error.message : String(error);
}

function adviceOn(error: ConvokeError): string {
  if (error instanceof AuthenticationError) {
    return ' Check the automation client with `convoke use`, or run `convoke login`.';
  }
  if (error.code === 'agent_not_found') return ' `convoke agents` lists them.';
  return '';
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  if (error instanceof Failure) return error.exitCode;
  if (error instanceof AuthenticationError || error instanceof PermissionError) {
    return exitCodes.refused;
  }
  if (error instanceof ConnectionError) return exitCodes.unreachable;
  // By name: loading the server only to know its class would slow every command down.
  return error instanceof Error && error.name === 'WrongSetting'
    ? exitCodes.usage
    : exitCodes.failed;
}
