// Bundles the command line and the server of this checkout into .cache/programs, for later starts.
import { statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { OutputChunk } from 'rolldown';
import { type Bundle, bundleForCheckout, inlined } from './bundle-package.ts';
import {
  type Current,
  type Input,
  bundlesFolder,
  currentFile,
  tableRowBytes,
} from './checkout-program.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const keptMs = 24 * 60 * 60_000;
/** More than the steps in which file systems count time. */
const settledMs = 2000;

const startedAt = Date.now();
await mkdir(bundlesFolder, { recursive: true });
const folder = await mkdtemp(join(bundlesFolder, 'bundle-'));
const server = await bundle({
  entries: { index: join(root, 'packages/server/src/index.ts') },
  inlined: inlined.server,
  folder: join(folder, 'server'),
  format: 'scripts',
});
const program = await bundle({
  entries: { convoke: join(root, 'packages/cli/src/main.ts') },
  inlined: inlined.cli,
  folder,
  format: 'modules',
  elsewhere: { '@convoke/server': pathToFileURL(join(folder, 'server/dist/index.js')).href },
});
const inputs = [...new Set([...server, ...program, ...(await makers())])].map(inputOf);
// The bundler may have read a file before its change and this one its state after it: such a bundle would never look stale.
const isSettled = inputs.every(([, , , changed]) => changed < startedAt - settledMs);
if (isSettled) await publish({ root, folder: basename(folder), inputs });
else await rm(folder, { recursive: true });
await removeOld();

/** Returns the files that the bundle was made of. */
async function bundle(wanted: Bundle): Promise<readonly string[]> {
  const { chunks, read } = await bundleForCheckout(wanted);
  for (const chunk of chunks) await writeTable(chunk, join(wanted.folder, 'dist'));
  return read;
}

/** Writes the source and its line for each line of a bundled file: 32 bits each, in the order of the lines. */
async function writeTable({ fileName, code, map }: OutputChunk, dist: string): Promise<void> {
  // A file that only imports and exports.
  if (map === null) return;
  const path = join(dist, fileName);
  const payload = map as unknown as SourceMapPayload;
  const found = new SourceMap(payload);
  const numbers = new Map(payload.sources.map((source, at) => [source, at]));
  const lines = code.split('\n');
  const rows = Buffer.alloc(lines.length * tableRowBytes, 0xff);
  for (const [line, text] of lines.entries()) {
    // Where the statement of the line begins: a statement of several lines is named by its first.
    const entry = found.findEntry(line, text.search(/\S|$/));
    if (!('originalSource' in entry) || entry.generatedLine !== line) continue;
    rows.writeUInt32LE(numbers.get(entry.originalSource) ?? 0, line * tableRowBytes);
    rows.writeUInt32LE(entry.originalLine + 1, line * tableRowBytes + 4);
  }
  const sources = payload.sources.map((source) => relative(root, resolve(dirname(path), source)));
  await writeFile(`${path}.lines`, rows);
  await writeFile(`${path}.sources.json`, JSON.stringify(sources));
}

/** Files that decide how the sources become a bundle, and where imported names lead. */
async function makers(): Promise<readonly string[]> {
  const packages = await readdir(join(root, 'packages'));
  return [
    'package-lock.json',
    ...packages.map((name) => `packages/${name}/package.json`),
    'scripts/bundle-checkout.ts',
    'scripts/bundle-package.ts',
    'scripts/checkout-program.mjs',
    'scripts/compiled-modules.mjs',
  ].map((path) => join(root, path));
}

function inputOf(path: string): Input {
  const { size, mtimeMs, ctimeMs, ino } = statSync(path);
  return [relative(root, path), size, mtimeMs, ctimeMs, ino];
}

/** In one step: a start finds the one before or this one. */
async function publish(current: Current): Promise<void> {
  const draft = join(folder, 'current.json');
  await writeFile(draft, JSON.stringify(current));
  await rename(draft, currentFile);
}

/** Bundles that no program has used for a day. Programs mark the time at which they use theirs. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(bundlesFolder)) {
    const path = join(bundlesFolder, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (path === currentFile || path === folder || mtimeMs > Date.now() - keptMs) continue;
    await rm(path, { recursive: true, force: true });
  }
}
