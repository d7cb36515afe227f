// npm run build:docs: the pages of /docs as files for any web server, in .cache/docs or in the given folder.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, readSources } from '../packages/launch/src/launch.mjs';

const usual = fileURLToPath(new URL('../.cache/docs', import.meta.url));

await launch(async () => {
  readSources();
  const { writeSite } = await import('../packages/api-page/scripts/write-site.ts');
  const folder = resolve(process.argv[2] ?? usual);
  const count = await writeSite(folder);
  console.log(`Wrote ${count} files into ${folder}. Put them on any web server, at any path.`);
});
