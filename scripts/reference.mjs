// npm run reference: writes everything that is generated from the sources and checked in.
import { launch, readSources } from '../packages/launch/src/launch.mjs';

await launch(async () => {
  readSources();
  await import('../packages/contract/scripts/write-reference.ts');
  await import('../packages/server/scripts/write-settings-page.ts');
  await import('../packages/sdk/scripts/write-wire.ts');
  await import('../packages/python/scripts/write-wire.ts');
  await import('./write-surface.ts');
  console.log(
    'Wrote docs/reference, docs/generated, packages/sdk/src/generated and the generated parts of packages/python. ' +
      '`git diff` shows what changed.',
  );
});
