import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StartedProgram } from '../stdio/leg.ts';

/** The server's copy of the Python kit: in its package, or in the checkout (D-350). */
function kitFolder(): string {
  const published = fileURLToPath(new URL('../../python', import.meta.url));
  if (existsSync(published)) return published;
  return fileURLToPath(new URL('../../../../agent-python', import.meta.url));
}

/**
 * Returns the command that starts an agent in Python. A script in the sandbox chooses the interpreter, because only
 * there it is known which one exists.
 */
export function launchPython(
  entry: string,
  more: readonly string[],
): Pick<StartedProgram, 'command' | 'readOnly'> {
  const kit = kitFolder();
  const command = ['/bin/sh', join(kit, 'launch.sh'), `./${entry}`, './', ...more];
  return { command, readOnly: [kit] };
}
