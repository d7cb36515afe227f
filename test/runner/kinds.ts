/**
 * The kinds of test files, in the order in which they start. The last word of a name before `.test.ts` is the kind:
 * `kills.fault.test.ts`. Kinds with long files start first, since a long file started last would leave a core idle.
 */
export const kinds = [
  /** Servers that are killed, drained or paused, and networks and disks that fail. In a process of its own. */
  'fault',
  /** The console in Chromium. */
  'browser',
  /** Measures memory, starts servers, agents or terminals, or changes its process. In a process of its own. */
  'alone',
  /** Shares a process, and takes too long for `npm run test:quick`. */
  'slow',
  /** Shares a process. `npm run test:quick` runs only these. */
  'plain',
  /** Checks what all the others observed, so it starts after them. */
  'last',
  /** A real command-line agent, downloaded from npm. Only `npm run test:agents` runs it. */
  'agent',
] as const;

export type Kind = (typeof kinds)[number];

const folders = ['packages/*/test', 'test', 'bench'];

/** The globs of vitest that match every file of a kind, and no other. */
export function filesOf(kind: Kind): string[] {
  const name = kind === 'plain' ? '+([a-z0-9-])' : `*.${kind}`;
  return folders.map((folder) => `${folder}/**/${name}.test.ts`);
}

/** The kind of a test file; undefined for a word that is none. */
export function kindOf(path: string): Kind | undefined {
  const [, word] = /\.([^/]+)\.test\.ts$/.exec(path) ?? [];
  return word === undefined ? 'plain' : kinds.find((kind) => kind === word && kind !== 'plain');
}
