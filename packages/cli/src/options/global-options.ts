import type { Command } from 'commander';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly client?: string;
}

export function globalOptions(command: Command): GlobalOptions {
  return command.optsWithGlobals<GlobalOptions>();
}
