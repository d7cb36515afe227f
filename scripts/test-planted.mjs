// npm run test:planted: plants one known bug at a time in a copy of the checkout and runs the tests that must catch it.
// Fails if a bug is not noticed, or if its patch no longer applies. Arguments choose plants by a part of their name:
// `npm run test:planted -- lease`. One with a slash chooses tests by a part of their path, and runs only these:
// `npm run test:planted -- conformance/`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyCheckout } from './copy-checkout.mjs';
import { launch } from '../packages/launch/src/launch.mjs';
import { choosePlants, readPlants } from './plants.mjs';
import { mustRun, runQuietly } from '../packages/launch/src/processes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** A planted bug may make a test run for ever. */
const testLimitMs = 5 * 60_000;

await launch(async () => {
  const wanted = process.argv.slice(2);
  const plants = choosePlants(readPlants(), wanted);
  const folder = mkdtempSync(join(tmpdir(), 'convoke-planted-'));
  let survived = 0;
  try {
    await copyCheckout(folder);
    for (const plant of plants) {
      const started = performance.now();
      const problem = await problemWith(plant, folder);
      const seconds = ((performance.now() - started) / 1000).toFixed(0).padStart(4);
      if (problem !== undefined) survived += 1;
      const outcome = problem === undefined ? '✓ caught  ' : '✗ SURVIVED';
      console.log(`${outcome} ${seconds} s  ${plant.name}: ${problem ?? plant.bug}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${plants.length - survived} of ${plants.length} planted bugs were caught.`);
  process.exitCode = survived === 0 && plants.length > 0 ? 0 : 1;
});

/**
 * Undefined when every named test failed, as it should.
 * @param {import('./plants.mjs').Plant} plant
 * @param {string} folder
 */
async function problemWith({ path, tests }, folder) {
  const applied = await runQuietly('git', ['apply', path], { cwd: folder });
  if (applied.end !== 0) return `the patch does not apply: ${applied.said}`;
  try {
    for (const test of tests) {
      const problem = await missedBy(test, folder);
      if (problem !== undefined) return problem;
    }
    return tests.length === 0 ? 'the patch names no test' : undefined;
  } finally {
    await mustRun('git', ['apply', '--reverse', path], { cwd: folder });
  }
}

/**
 * @param {{ file: string, title: string }} test
 * @param {string} folder
 */
async function missedBy({ file, title }, folder) {
  const report = join(folder, 'planted-report.json');
  rmSync(report, { force: true });
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const pattern = title.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const args = ['run', file, '--testNamePattern', pattern, '--reporter=json'];
  const command = [vitest, ...args, `--outputFile=${report}`];
  const { end, said } = await runQuietly(process.execPath, command, {
    cwd: folder,
    // Tests that mostly wait for our own rate have a higher one.
    env: { ...process.env, CONVOKE_TEST_PLANTED: '1' },
    timeout: testLimitMs,
    killSignal: 'SIGKILL',
  });
  if (end === 'SIGKILL')
    return `${file} did not end within ${testLimitMs / 60_000} minutes: ${title}`;
  const { numPassedTests, numFailedTests } = readReport(report, said);
  if (numFailedTests > 0) return undefined;
  if (numPassedTests > 0) return `${file} passes: ${title}`;
  return `no test ran in ${file}: ${title}\n${said.slice(-2000)}`;
}

/**
 * @param {string} path
 * @param {string} said
 * @returns {{ numPassedTests: number, numFailedTests: number }}
 */
function readReport(path, said) {
  try {
    return /** @type {{ numPassedTests: number, numFailedTests: number }} */ (
      JSON.parse(readFileSync(path, 'utf8'))
    );
  } catch (cause) {
    throw new Error(`vitest wrote no report:\n${said}`, { cause });
  }
}
