#!/usr/bin/env node
// Starts the kit, in a checkout and installed from npm.
import { existsSync } from 'node:fs';

const installed = new URL('../dist/main.js', import.meta.url);
if (existsSync(installed)) await import(installed.href);
else {
  // In a checkout, which fetches a suitable Node.
  const { launch, readSources } = await import('../../launch/src/launch.mjs');
  await launch(async () => {
    readSources();
    await import('../src/main.ts');
  });
}
