// npm run test:faults: the exhaustive tests, which take too long for `npm test`: every seat, every kill, images,
// packages. Arguments go to vitest: `npm run test:faults -- seats`.
import { launch } from '../packages/launch/src/launch.mjs';
import { runTool } from './tools.mjs';

const vitest = ['run', '--project=exhaustive', ...process.argv.slice(2)];
await launch(async () => {
  process.exitCode = (await runTool('vitest', vitest)) ? 0 : 1;
});
