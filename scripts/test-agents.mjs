// npm run test:agents: the real command-line agents, each fetched from npm into .cache/agents by its test. Arguments go
// to vitest: `npm run test:agents -- opencode`. It downloads about a gigabyte once and takes ten minutes on two cores.
import { launch } from '../packages/launch/src/launch.mjs';
import { runTool } from './tools.mjs';

await launch(async () => {
  const args = ['run', '--config', 'vitest-agents.config.ts', ...process.argv.slice(2)];
  process.exitCode = (await runTool('vitest', args)) ? 0 : 1;
});
