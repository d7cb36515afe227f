import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StartedProgram } from '../stdio/leg.ts';

/** The Python kit, as the server brings it along: in its package, or in the checkout (D-350). */
function kitFolder(): string {
  const published = fileURLToPath(new URL('../../python', import.meta.url));
  if (existsSync(published)) return published;
  return fileURLToPath(new URL('../../../../agent-python', import.meta.url));
}

/**
 * The command that starts a program in Python. A script chooses the interpreter inside of the sandbox, since only there it
 * is known which one exists.
 */
export function launchPython(
  entry: string,
  more: readonly string[],
): Pick<StartedProgram, 'command' | 'readOnly'> {
  const kit = kitFolder();
  const command = ['/bin/sh', join(kit, 'launch.sh'), `./${entry}`, './', ...more];
  return { command, readOnly: [kit] };
}
