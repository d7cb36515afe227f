import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The module that lets tests of an agent find the server's copy of the kit, wherever the agent's folder is. */
export function kitPreload(): string {
  return pathToFileURL(createRequire(serverPath()).resolve('@convoke/agent/resolve')).href;
}

/** The folder that Python finds the kit in. */
export function pythonKit(): string {
  const server = dirname(serverPath());
  const published = join(server, 'python');
  return existsSync(published) ? published : join(server, '../../agent-python');
}

function serverPath(): string {
  return createRequire(import.meta.url).resolve('@convoke/server');
}
