import { catalogue } from './commands/catalogue.ts';

/** They read folders and databases: "waiting for the server" would send a person looking for one. */
const local: ReadonlySet<string> = new Set([
  ...Object.keys(catalogue['Operate the server:'] ?? {}),
  ...['new', 'check', 'rehearse', 'test'].map((name) => `agents ${name}`),
]);

/** What the spinner of a command says while nothing is printed. */
export function waitOf(words: readonly string[]): string {
  const isLocal = local.has(words[0] ?? '') || local.has(words.join(' '));
  return isLocal ? 'working' : 'waiting for the server';
}
