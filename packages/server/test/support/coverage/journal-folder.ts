/** Names the folder in which this run of vitest records what its tests observed. Workers inherit it. */
const variable = 'CONVOKE_TEST_JOURNAL';

export function openJournal(folder: string): void {
  process.env[variable] = folder;
}

export function journalFolder(): string | undefined {
  return process.env[variable];
}
