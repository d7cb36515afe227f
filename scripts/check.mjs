// npm run check: types, lint, format and dead code.
import { launch } from '../packages/launch/src/launch.mjs';
import { runChecks } from './tools.mjs';

await launch(async () => {
  const failed = await runChecks();
  process.exitCode = failed.length === 0 ? 0 : 1;
});
