// The development tools that come with the repository, run without a shell and on the Node that runs this.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ended, runQuietly } from '../packages/launch/src/processes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = {
  tsc: 'typescript/bin/tsc',
  oxlint: 'oxlint/bin/oxlint',
  biome: '@biomejs/biome/bin/biome',
  knip: 'knip/bin/knip.js',
  vitest: 'vitest/vitest.mjs',
};

/** @type {{ name: string, tool: keyof typeof programs, args: string[] }[]} */
const checks = [
  { name: 'types', tool: 'tsc', args: ['-p', 'tsconfig.json'] },
  { name: 'types of the console', tool: 'tsc', args: ['-p', 'packages/console'] },
  { name: 'lint', tool: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', tool: 'biome', args: ['format', '--error-on-warnings'] },
  { name: 'dead code', tool: 'knip', args: ['--no-progress'] },
];

/**
 * Runs the checks that read the code without running it, all of them even if the first one fails. Returns the names of
 * those that failed.
 * @param {string[]} [names] Only these checks.
 * @param {{ print?: (text: string) => void, niceness?: number }} [how]
 */
export async function runChecks(names, { print = console.log, niceness = 0 } = {}) {
  const failed = [];
  for (const { name, tool, args } of checks) {
    if (names !== undefined && !names.includes(name)) continue;
    const started = performance.now();
    const { end, said } = await runQuietly(process.execPath, [pathOf(tool), ...args], {
      cwd: root,
      niceness,
    });
    if (end === 'SIGINT' || end === 'SIGTERM') process.kill(process.pid, end);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    print(`${end === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
    if (end === 0) continue;
    print(said);
    failed.push(name);
  }
  return failed;
}

/**
 * Runs vitest, and beside it the checks, because the tests do not always use both cores. The checks print after the
 * tests, so that the lines of both do not mix.
 * @param {{ vitest: string[], checks?: string[], niceness?: number, passed: string }} what
 */
export async function runTestsAndChecks({ vitest, checks: names, niceness = 0, passed }) {
  /** @type {string[]} */
  const outcomes = [];
  const [failed, isPassed] = await Promise.all([
    runChecks(names, { print: (text) => outcomes.push(text), niceness }),
    runTool('vitest', vitest),
  ]);
  for (const text of outcomes) console.log(text);
  if (!isPassed) failed.push('tests');
  console.log(failed.length === 0 ? passed : `Failed: ${failed.join(', ')}.`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/**
 * Runs one tool with its output shown and returns whether it succeeded.
 * @param {keyof typeof programs} tool
 * @param {string[]} args
 */
export async function runTool(tool, args) {
  const child = spawn(process.execPath, [pathOf(tool), ...args], { cwd: root, stdio: 'inherit' });
  return (await ended(child)) === 0;
}

/** @param {keyof typeof programs} tool */
function pathOf(tool) {
  return fileURLToPath(new URL(`../node_modules/${programs[tool]}`, import.meta.url));
}
