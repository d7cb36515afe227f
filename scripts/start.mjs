// npm start: installs what is missing and runs `convoke dev`.
import { launch } from './launch.mjs';

await launch(() => {
  process.argv.splice(2, 0, 'dev');
  return import('../packages/cli/src/main.ts');
});
