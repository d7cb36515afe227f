import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Quickstart } from '@convoke/server';

/** Reads the file that a development server writes into its data folder; undefined if there is none. */
export async function readQuickstart(): Promise<Quickstart | undefined> {
  const text = await readFile(quickstartPath(), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Quickstart);
}

export function quickstartPath(): string {
  return join(process.env['CONVOKE_DATA_DIR'] ?? '.convoke', 'quickstart.json');
}
