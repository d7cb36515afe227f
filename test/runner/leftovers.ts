import { vi } from 'vitest';

/** Settings of a project of vitest whose files share processes. */
export const sharing = { isolate: false, env: { CONVOKE_TEST_SHARED_PROCESS: '1' } } as const;

/**
 * Throws after a file that would change what the next file in the same process sees: a variable of the environment, or
 * the clock. Without this, the next file fails, or worse, passes for a wrong reason.
 */
export function refuseLeftovers(before: Readonly<NodeJS.ProcessEnv>): void {
  if (process.env['CONVOKE_TEST_SHARED_PROCESS'] === undefined) return;
  const names = new Set([...Object.keys(before), ...Object.keys(process.env)]);
  const changed = [...names].filter((name) => process.env[name] !== before[name]);
  if (changed.length > 0) {
    throw new Error(`this file shares its process and leaves ${changed.join(', ')} changed`);
  }
  if (vi.isFakeTimers()) throw new Error('this file shares its process and leaves fake timers');
}
