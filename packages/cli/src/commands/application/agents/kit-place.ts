import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { AgentPlace } from './template.ts';

/**
 * The command that tests an agent in JavaScript. Where Node does not find the kit from the agent's folder, the command names
 * the server's copy of it.
 */
export function nodeTest({ folder, shown }: AgentPlace, command: string): string {
  const preload = '@convoke/agent/resolve';
  const isFound = placeOf(preload, resolve(folder, 'agent.ts')) !== undefined;
  if (isFound) return `cd ${shown} && ${command}`;
  return `cd ${shown} && node --import '${placeOf(preload, serverPlace())}' --test agent.test.ts`;
}

/** The folder that Python finds the kit in. */
export function pythonKit(): string {
  const server = dirname(serverPlace());
  const published = join(server, 'python');
  return existsSync(published) ? published : join(server, '../../agent-python');
}

function serverPlace(): string {
  return createRequire(import.meta.url).resolve('@convoke/server');
}

/** The file of a package, as it is found from another one. */
function placeOf(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}
