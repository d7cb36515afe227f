// npm run test:quick: types, lint and the quick tests. Arguments go to vitest: `npm run test:quick -- runs`.
import { launch } from './launch.mjs';
import { runChecks, runTool } from './tools.mjs';

await launch(async () => {
  const failed = await runChecks(['types', 'lint']);
  const args = ['run', '--config', 'vitest-quick.config.ts', ...process.argv.slice(2)];
  if (!(await runTool('vitest', args))) failed.push('tests');
  console.log(failed.length === 0 ? 'The quick tests pass.' : `Failed: ${failed.join(', ')}.`);
  process.exitCode = failed.length === 0 ? 0 : 1;
});
