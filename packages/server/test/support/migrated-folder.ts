// Vitest runs `setup` once, before any test file; test workers inherit the variable.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../../../test/remove-folder.ts';

const variable = 'CONVOKE_TEST_MIGRATED';

/** Where the tests of this run keep the migrated SQLite that they copy; undefined in a run without such a place. */
export function migratedFolder(): string | undefined {
  return process.env[variable];
}

export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-migrated-'));
  process.env[variable] = folder;
  return () => removeFolder(folder);
}
