import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Services } from '../app/services.ts';
import type { Config } from '../config/config.ts';
import { openConsoleFiles } from '../http/console/console-files.ts';
import { mountConsole } from '../http/console/console.ts';

/** Serves the built console, unless the settings turn it off. `folder` replaces the place of the build in tests. */
export function openConsole(
  app: FastifyInstance,
  { metrics }: Pick<Services, 'metrics'>,
  {
    config,
    folder = builtFolder(),
  }: { readonly config: Config; readonly folder?: string | undefined },
): void {
  if (!config.hasConsole) return;
  const { baseUrl, peopleIssuer } = config;
  const issuer = peopleIssuer && {
    address: peopleIssuer.issuer,
    clientId: peopleIssuer.consoleClientId,
  };
  mountConsole(app, { files: openConsoleFiles(folder), baseUrl, issuer, metrics });
}

/** Published packages carry the build beside the server's own files; a checkout has it in its own package. */
function builtFolder(): string {
  const published = fileURLToPath(new URL('../console', import.meta.url));
  return existsSync(published)
    ? published
    : fileURLToPath(new URL('../../../console/dist', import.meta.url));
}
