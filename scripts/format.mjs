// npm run format: writes every file the way the format check wants it.
import { launch } from './launch.mjs';
import { runTool } from './tools.mjs';

await launch(async () => {
  process.exitCode = (await runTool('biome', ['format', '--write'])) ? 0 : 1;
});
