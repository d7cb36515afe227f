/**
 * The kinds of test files, in the order in which they start. The last word of a name before `.test.ts` is the kind:
 * `kills.fault.test.ts`. Kinds with long files start first, since a long file started last would leave a core idle.
 */
export const kinds = [
  /** Has servers, networks and disks fail at every moment, or under load. In a process of its own. */
  'fault',
  /** Takes long: images, packed packages, commands of the pages, every screen, benchmarks. In a process of its own. */
  'long',
  /** The console in Chromium. */
  'browser',
  /** Measures memory, starts or kills servers, agents or terminals, or changes its process. In a process of its own. */
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

/** The kinds that only `npm run test:faults` runs; `npm test` runs the others, except for `agent`. */
const exhaustive: readonly Kind[] = ['fault', 'long'];

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

/** Whether `npm test` leaves the file to `npm run test:faults`. */
export function isExhaustive(path: string): boolean {
  const kind = kindOf(path);
  return kind !== undefined && exhaustive.includes(kind);
}
