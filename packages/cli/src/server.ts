import type * as Server from '@convoke/server';
import { exitCodes, Failure } from './failure.ts';

/**
 * Loads the server, for the commands that run or operate one. It is loaded only here and only when they run: the
 * commands that call a server start without it, and on Nodes that have no SQLite.
 */
export async function loadServer(): Promise<typeof Server> {
  const problem = problemWithNode(process.versions.node);
  if (problem !== undefined) throw new Failure(problem, exitCodes.usage);
  return import('@convoke/server');
}

/** Returns why the server cannot run on this version of Node; undefined if it can. Its manifest has the same range. */
export function problemWithNode(version: string): string | undefined {
  const [major = 0] = parsed(version);
  const needed = major > 24 ? '26.5.1' : '24.18.1';
  if (major !== 25 && isAtLeast(version, needed)) return undefined;
  return (
    `Convoke's server needs Node ${needed} or newer; this is ${version}. ` +
    'Get it from https://nodejs.org. Commands that only call a server work with this version.'
  );
}

function isAtLeast(version: string, least: string): boolean {
  const have = parsed(version);
  const wanted = parsed(least);
  const differing = wanted.findIndex((part, index) => part !== have[index]);
  return differing === -1 || (have[differing] ?? 0) > (wanted[differing] ?? 0);
}

function parsed(version: string): number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10));
}
