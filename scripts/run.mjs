// Runs a TypeScript program of the checkout on the Node that Convoke needs: node scripts/run.mjs <file> [argument …].
// npm scripts use it, so that they work on every Node that the README names: an older one cannot run TypeScript itself.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, readSources } from '../packages/launch/src/launch.mjs';

await launch(async () => {
  readSources();
  // The program sees the arguments that it would have been started with.
  process.argv.splice(1, 1);
  const file = resolve(process.argv[1] ?? '');
  process.argv[1] = file;
  await import(pathToFileURL(file).href);
});
