#!/usr/bin/env node
// Starts the command line, in a checkout and installed from npm. A Node that is too old has to be able to read this
// file to say so: no static import of other files, and no syntax that Node 14 does not know.
import { existsSync, readFileSync } from 'fs';
import module from 'module';
import { homedir } from 'os';
import { join } from 'path';

const version = process.versions.node;
const installed = new URL('../dist/main.js', import.meta.url);
const words = process.argv.slice(2);

if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const manifest = /** @type {{ version: string }} */ (JSON.parse(text));
  console.log(manifest.version);
} else if (!existsSync(installed)) {
  // In a checkout, which fetches a suitable Node.
  const { launch, readSources } = await import('../../launch/src/launch.mjs');
  await launch(async () => {
    readSources();
    await import('../src/main.ts');
  });
} else if (isTooOld()) {
  const needs = 'Convoke needs Node 20.18 or newer, and its server Node 24.18.1 or newer';
  console.error(`convoke: ${needs}; this is ${version}. Get one from https://nodejs.org.`);
  process.exitCode = 1;
} else {
  keepCompiled();
  await import(installed.href);
}

/** Only the first start compiles; later ones read what it has kept, in a folder that only this user writes to. */
function keepCompiled() {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  if ('enableCompileCache' in module) module.enableCompileCache(join(cache, 'convoke/compiled'));
}

function isTooOld() {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 20 || (major === 20 && minor < 18);
}
