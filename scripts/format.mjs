// npm run format: formats every file as the format check requires.
import { launch } from '../packages/launch/src/launch.mjs';
import { runTool } from './tools.mjs';

await launch(async () => {
  process.exitCode = (await runTool('biome', ['format', '--write'])) ? 0 : 1;
});
