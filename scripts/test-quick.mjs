// npm run test:quick: types, lint and the quick tests. Arguments go to vitest: `npm run test:quick -- runs`.
import { launch } from './launch.mjs';
import { runChecks, runTool } from './tools.mjs';

await launch(async () => {
  const args = ['run', '--config', 'vitest-quick.config.ts', ...process.argv.slice(2)];
  // The checks run beside the tests, which do not use both cores while they start and end. They print after the tests,
  // so that the lines of both do not mix.
  /** @type {string[]} */
  const outcomes = [];
  const [failed, passed] = await Promise.all([
    runChecks(['types', 'lint'], (text) => outcomes.push(text)),
    runTool('vitest', args),
  ]);
  for (const text of outcomes) console.log(text);
  if (!passed) failed.push('tests');
  console.log(failed.length === 0 ? 'The quick tests pass.' : `Failed: ${failed.join(', ')}.`);
  process.exitCode = failed.length === 0 ? 0 : 1;
});
