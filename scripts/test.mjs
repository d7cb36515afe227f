// npm test: every check and every test. Arguments go to vitest: `npm test -- packages/server/test/domain`.
import { launch } from './launch.mjs';
import { runChecks, runTool } from './tools.mjs';

await launch(async () => {
  const failed = await runChecks();
  if (!(await runTool('vitest', ['run', ...process.argv.slice(2)]))) failed.push('tests');
  console.log(failed.length === 0 ? 'All checks and tests pass.' : `Failed: ${failed.join(', ')}.`);
  process.exitCode = failed.length === 0 ? 0 : 1;
});
