import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { StartedProgram } from '../stdio/leg.ts';
import { cacheVariable } from './compile-cache.ts';
import { launchPython } from './python.ts';
import type { CodeSettings } from './settings.ts';

/** The launcher of the server's own kit. A copy in the agent's folder is only for the author's editor. */
const launcher = createRequire(import.meta.url).resolve('@convoke/agent/launch');
const kitFolder = dirname(dirname(launcher));

/**
 * Returns the command that starts the kit's launcher. Descriptor 3 becomes the connection to the server, and standard
 * output is redirected to standard error: nothing that the agent or its children print becomes part of the answer.
 */
export function launchCommand(
  { entry }: Pick<CodeSettings, 'entry'>,
  more: readonly string[] = [],
): Pick<StartedProgram, 'command' | 'readOnly'> {
  if (entry.endsWith('.py')) return launchPython(entry, more);
  const node = [process.execPath, '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', launcher];
  const redirect = ['/bin/sh', '-c', 'exec 3>&1 1>&2; exec "$@"', 'sh'];
  return { command: [...redirect, ...node, `./${entry}`, './', ...more], readOnly: [kitFolder] };
}

/** As `launchCommand`, with the compiled code of the agent, which its process cannot change. */
export function cachedLaunchCommand(
  settings: CodeSettings,
  more: readonly string[],
  cache: string | undefined,
): Pick<StartedProgram, 'command' | 'readOnly' | 'env'> {
  const { command, readOnly } = launchCommand(settings, more);
  if (cache === undefined) return { command, readOnly };
  return { command, readOnly: [...readOnly, cache], env: cacheVariable(settings.entry, cache) };
}
