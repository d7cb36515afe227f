import { AuthenticationError, ConnectionError, ConvokeError, PermissionError } from '@convoke/sdk';
import { CommanderError } from 'commander';
import { exitCodes, Failure } from './failure.ts';
import { remark } from './terminal/output.ts';

/** Prints an error in one line; with --verbose also the stack. */
export function reportFailure(error: unknown, { verbose }: { verbose: boolean }): void {
  process.exitCode = exitCodeOf(error);
  // Commander has already printed it.
  if (error instanceof CommanderError) return;
  remark(`convoke: ${messageOf(error)}`);
  if (verbose && error instanceof Error) remark(error.stack ?? '');
}

function messageOf(error: unknown): string {
  if (error instanceof ConnectionError) {
    return `${error.message} Is the server running? Start it with \`npm start\` or \`convoke dev\`.`;
  }
  if (error instanceof ConvokeError && error.code === 'ambiguous_workspace') {
    return 'this client can access multiple tenants: select one with `convoke use --tenant ten_…` (see `convoke workspaces`)';
  }
  if (error instanceof ConvokeError) {
    const reference = error.requestId === undefined ? '' : `, request ${error.requestId}`;
    return `${error.message}${adviceOn(error)} (${error.code}${reference})`;
  }
  return error instanceof Error ? error.message : String(error);
}

function adviceOn(error: ConvokeError): string {
  if (error instanceof AuthenticationError) {
    return ' Check the saved login with `convoke use`, or run `convoke login`.';
  }
  if (error.code === 'agent_not_found') return ' Run `convoke agents` to list the agents.';
  return '';
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  if (error instanceof Failure) return error.exitCode;
  if (error instanceof AuthenticationError || error instanceof PermissionError) {
    return exitCodes.refused;
  }
  if (error instanceof ConnectionError) return exitCodes.unreachable;
  // By name: loading the server for its error class would slow down every command.
  return error instanceof Error && error.name === 'WrongSetting'
    ? exitCodes.usage
    : exitCodes.failed;
}
