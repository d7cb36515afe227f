// npm start: installs what is missing, builds the console if a source has changed, and runs `convoke dev`.
import { launch, readSources } from '../packages/launch/src/launch.mjs';

await launch(async () => {
  readSources();
  await buildConsole();
  process.argv.splice(2, 0, 'dev');
  await import('../packages/cli/bin/convoke.mjs');
});

/** Without a build the server runs anyway, and its page says what is missing. */
async function buildConsole() {
  try {
    const { buildIfStale } = await import('../packages/console/scripts/build-if-stale.ts');
    await buildIfStale();
  } catch (error) {
    console.error('convoke: the console could not be built:', error);
  }
}
