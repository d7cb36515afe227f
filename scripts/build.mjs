// npm run build: every package as it is published, in .cache/packages; then: npm pack ./.cache/packages/cli
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { launch, readSources } from './launch.mjs';

await launch(async () => {
  readSources();
  const sdk = await import('../packages/sdk/scripts/build-package.ts');
  const others = await import('./build-package.ts');
  const folder = fileURLToPath(new URL('../.cache/packages', import.meta.url));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await sdk.buildPackage(`${folder}/sdk`);
  await others.buildPackages(folder);
});
