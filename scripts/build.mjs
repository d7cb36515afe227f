// npm run build: every package as it is published, in .cache/packages, and packed for `npm install` and pip, in
// .cache/packs.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, readSources } from '../packages/launch/src/launch.mjs';
import { mustRun } from '../packages/launch/src/processes.mjs';

const packages = fileURLToPath(new URL('../.cache/packages', import.meta.url));
const packs = fileURLToPath(new URL('../.cache/packs', import.meta.url));

await launch(async () => {
  readSources();
  const sdk = await import('../packages/sdk/scripts/build-package.ts');
  const others = await import('./build-package.ts');
  const python = await import('../packages/python/scripts/build-wheel.ts');
  for (const folder of [packages, packs]) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  }
  await sdk.buildPackage(join(packages, 'sdk'));
  await others.buildPackages(packages);
  const folders = (await readdir(packages)).map((name) => join(packages, name));
  await mustRun('npm', ['pack', ...folders, '--pack-destination', packs]);
  await python.buildWheel(packs);
  await explain();
});

async function explain() {
  const names = (await readdir(packs)).sort();
  console.log(`Built ${names.length} packages in ${packs}:`);
  for (const name of names) console.log(`  ${name}`);
  const sdk = names.find((name) => name.startsWith('convoke-sdk-')) ?? '';
  console.log('\nTo use the SDK in your project, run this in its folder:');
  console.log(`  npm install ${join(packs, sdk)}`);
  const wheel = names.find((name) => name.endsWith('.whl')) ?? '';
  console.log('\nTo use the Python client, in its virtual environment:');
  console.log(`  pip install --no-index ${join(packs, wheel)}`);
  console.log('\ndocs/guides/use-the-sdk.md and docs/guides/use-python.md show a first program.');
}
