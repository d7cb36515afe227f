import type { Operator } from '@convoke/server';
import type { Command } from 'commander';
import { globalOptions } from './options/global-options.ts';
import { print, printJson } from './terminal/output.ts';

/**
 * Opens the deployment that the environment names, does one thing to it, and puts it away. The server is
 * loaded only here, so that commands which call one start without it.
 */
export async function operating<T>(work: (operator: Operator) => Promise<T>): Promise<T> {
  const { openOperator, readConfig } = await import('@convoke/server');
  const operator = await openOperator(readConfig(process.env));
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
}

/** With --json the facts, for a program; otherwise the text, for a person. */
export function report(command: Command, facts: object, text: string): void {
  if (globalOptions(command).json === true) printJson(facts);
  else print(text);
}
