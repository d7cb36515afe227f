import { printable } from '@convoke/faces/printable';
import { AuthenticationError, ConnectionError, ConvokeError, PermissionError } from '@convoke/sdk';
import { CommanderError } from 'commander';
import { exitCodes, Failure } from './failure.ts';
import { usedLoginText } from './sign-in/used-login.ts';
import { remark } from './terminal/output.ts';

/** Prints an error in one line; with --verbose also the stack. */
export function reportFailure(error: unknown, { verbose }: { verbose: boolean }): void {
  process.exitCode = exitCodeOf(error);
  // Commander has already printed it.
  if (error instanceof CommanderError) return;
  remark(printable(`convoke: ${messageOf(error)}`));
  if (verbose && error instanceof Error) remark(error.stack ?? '');
}

function messageOf(error: unknown): string {
  if (error instanceof ConnectionError) {
    return `${sentence(error.message)} Is the server running? Start one with \`npx convoke dev\`.${usedLoginText()}`;
  }
  if (error instanceof ConvokeError && error.code === 'ambiguous_workspace') {
    return (
      'this client can access multiple tenants: select one with `convoke logins use --tenant ten_…` (see `convoke workspaces`)' +
      usedLoginText()
    );
  }
  if (error instanceof ConvokeError) {
    const reference = error.requestId === undefined ? '' : `, request ${error.requestId}`;
    return `${error.message}${adviceOn(error)} (${error.code}${reference})${usedLoginText()}`;
  }
  if (!(error instanceof Error)) return String(error);
  return portProblem(error) ?? error.message;
}

/** Explains why a server could not listen on its port; undefined for any other error. */
function portProblem(error: NodeJS.ErrnoException & { address?: string; port?: number }) {
  const { code, syscall, address, port = 0 } = error;
  if (syscall !== 'listen') return undefined;
  const another = 'choose another with CONVOKE_PORT';
  if (code === 'EADDRINUSE') {
    return `port ${port} on ${address} is already in use, perhaps by another Convoke: stop it, or ${another}`;
  }
  if (code === 'EACCES')
    return `this user is not allowed to listen on port ${port}: ${another}, above 1023`;
  if (code === 'EADDRNOTAVAIL') {
    return `this machine does not have the address ${address}: change CONVOKE_HOST`;
  }
  return undefined;
}

/** Messages of the system end without a full stop. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function adviceOn(error: ConvokeError): string {
  if (error instanceof AuthenticationError) {
    return ' Run `convoke whoami` to see the login in use, and `convoke logins` to list the saved ones.';
  }
  if (error.code === 'agent_not_found' && !error.message.endsWith('?'))
    return ' Run `convoke agents` to list the agents, or `convoke agents show <name>` to see why one is not loaded.';
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
