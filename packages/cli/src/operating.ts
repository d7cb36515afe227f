import type { Operator } from '@convoke/server';
import type { Command } from 'commander';
import { globalOptions } from './options/global-options.ts';
import { loadServer } from './server.ts';
import { print, printJson } from './terminal/output.ts';

/** Opens the deployment that the environment names, runs one operation on it and closes it. */
export async function operating<T>(work: (operator: Operator) => Promise<T>): Promise<T> {
  const { openOperator, readConfig } = await loadServer();
  const operator = await openOperator(readConfig(process.env));
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
}

/** Prints the facts as JSON with --json, otherwise the text. */
export function report(command: Command, facts: object, text: string): void {
  if (globalOptions(command).json === true) printJson(facts);
  else print(text);
}
