import { spawnSync } from 'node:child_process';

const named = process.env['CONVOKE_TEST_PROMTOOL'];
const program = named ?? 'promtool';

/**
 * Whether Prometheus' own checker is there (Debian: apt install prometheus). It is no program that this suite installs:
 * it comes with a whole server. Where CONVOKE_TEST_PROMTOOL names it, as in CI, its absence is an error.
 */
export const hasPromtool =
  named !== undefined || spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

/** What promtool has to say against its input; nothing when all is well. */
export function promtoolProblems(args: readonly string[], input = ''): string[] {
  const { status, stderr, error } = spawnSync(program, args, { input, encoding: 'utf8' });
  if (error !== undefined) throw error;
  const lines = stderr.split('\n').filter((line) => line !== '');
  return status === 0 ? lines : [`exit code ${status}`, ...lines];
}
