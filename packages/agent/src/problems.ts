import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface Program {
  /** The file that exports the agent. */
  readonly entry: string;
  /** The agent's folder. */
  readonly folder: string;
  /** The folder's name for its author. */
  readonly label: string;
}

/** Describes why an agent could not be loaded: the position, the problem, and what to do. */
export function loadProblem(error: unknown, program: Program): string {
  const { entry, folder } = program;
  if (!(error instanceof Error)) return `${relative(folder, entry)} threw ${String(error)}`;
  const code = 'code' in error ? error.code : undefined;
  const { message } = error;
  if (code === 'ERR_MODULE_NOT_FOUND') return missing(message, program);
  const at = positionOf(error, folder) ?? relative(folder, entry);
  const syntax = /^TypeScript (.+) is not supported in strip-only mode$/.exec(message)?.[1];
  if (syntax !== undefined) {
    return `${at}: "${syntax}" needs a build step, but Node runs this file without one. Use ${syntax === 'enum' ? 'a union' : 'plain syntax'}, or bundle the agent.`;
  }
  const decorator = error.name === 'SyntaxError' ? decoratorIn(entry) : undefined;
  if (decorator !== undefined) {
    return `${relative(folder, entry)}:${decorator}: decorators need a build step, but Node runs this file without one. Call the function, or bundle the agent.`;
  }
  return `${at}: ${error.name}: ${message}`;
}

/** The position of an error for the end of its message: ` (agent.ts:9:21)`. */
export function whereOf(error: Error, folder: string): string {
  const at = positionOf(error, folder);
  return at === undefined ? '' : ` (${at})`;
}

/** Describes a requirement of package.json that this server does not meet. */
export function manifestProblem({ folder, label }: Program, kit: string): string | undefined {
  const manifest = readManifest(join(folder, 'package.json'));
  if (typeof manifest === 'string') return manifest;
  const node = manifest.engines?.['node'];
  if (node !== undefined && isBelow(process.versions.node, node)) {
    return `package.json requires Node ${node}, but the server has ${process.versions.node}`;
  }
  const asked =
    manifest.dependencies?.['@convoke/agent'] ?? manifest.devDependencies?.['@convoke/agent'];
  if (asked !== undefined && isBelow(kit, asked)) {
    return `${label} requires @convoke/agent ${asked}, but this server has ${kit}. Update the server.`;
  }
  return undefined;
}

interface Manifest {
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function readManifest(path: string): Manifest | string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return {};
  }
  try {
    return JSON.parse(text) as Manifest;
  } catch {
    return 'package.json is not valid JSON';
  }
}

/** Whether a version is lower than the lowest one that a range names. Other kinds of ranges are not read. */
function isBelow(version: string, range: string): boolean {
  const lowest = /^(?:>=|\^|~)?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range.trim());
  if (lowest === null) return false;
  const own = version.split('.').map(Number);
  for (const index of [0, 1, 2]) {
    const difference = (own[index] ?? 0) - Number(lowest[index + 1] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function missing(message: string, { entry, folder, label }: Program): string {
  const [, kind, name = '', importer = entry] =
    /^Cannot find (package|module) '(.+?)' imported from (.+)$/.exec(message) ?? [];
  const from = relative(folder, importer.replace(/^file:\/\//, ''));
  if (kind === 'package') {
    return `${from}: package "${name}" is not installed. Run npm install in ${label}.`;
  }
  return `${from} imports ${relative(folder, name)}, which does not exist`;
}

/** The first position in an error's stack that is in the folder, and not in a package. */
function positionOf({ stack = '' }: Error, folder: string): string | undefined {
  const positions = stack.matchAll(/(?:file:\/\/)?(\/[^\s()]+?):(\d+)(?::(\d+))?\)?$/gm);
  for (const [, path = '', line, column] of positions) {
    const below = relative(folder, path);
    if (below.startsWith('..') || below.includes('node_modules/')) continue;
    return `${below}:${line}${column === undefined ? '' : `:${column}`}`;
  }
  return undefined;
}

/** The line of the first decorator: Node does not say where a module has it. */
function decoratorIn(entry: string): number | undefined {
  const lines = readFileSync(entry, 'utf8').split('\n');
  const index = lines.findIndex((line) => /^\s*@[A-Za-z_]\w*/.test(line));
  return index === -1 ? undefined : index + 1;
}
