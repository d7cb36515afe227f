// What `scripts/compiled-modules.mjs` keeps of one start for the next.
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { cp, mkdtemp, open, readFile, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeFolder } from './remove-folder.ts';
import { root } from './repository.ts';

const run = promisify(execFile);

/** Says which of its words it was called with. */
const program = `
import { channel } from 'node:diagnostics_channel';
import { loadModule } from './compiled-modules.js';
const { greet } = loadModule(new URL('greeting.cjs', import.meta.url).href);
if (process.argv.includes('greet')) console.log(await greet('world'));
if (process.argv.includes('ready')) channel('convoke.ready').publish({});
`;
const greeting = `const { text } = require('./text.cjs'); exports.greet = async (name) => {
  const { sep } = await importPackage('node:path');
  return [text, name, sep, new Error().stack.split('\\n')[1].trim()].join(' ');
};`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-compiled-'));
  await cp(join(root, 'scripts/compiled-modules.mjs'), join(folder, 'compiled-modules.js'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'start.js'), program);
  await writeFile(join(folder, 'greeting.cjs'), greeting);
  await writeFile(join(folder, 'text.cjs'), `exports.text = 'Hello';`);
});
afterEach(() => removeFolder(folder));

test('modules of a bundle run with and without code from an earlier start', async () => {
  const place = pathToFileURL(join(folder, 'greeting.cjs')).href;
  const said = `Hello world / at exports.greet (${place}:3:28)\n`;
  expect(await start(['greet'])).toBe(said);
  expect(await start(['greet'])).toBe(said);
  expect(await start(['greet'], { NODE_DISABLE_COMPILE_CACHE: '1' })).toBe(said);
});

test('a start keeps the functions that were called after loading', async () => {
  await start(['ready']);
  const uncalled = (await kept()).reduce((sum, { size }) => sum + size, 0);
  await removeFolder(join(folder, 'cache'));
  await start(['ready', 'greet']);
  const called = (await kept()).reduce((sum, { size }) => sum + size, 0);
  expect(called).toBeGreaterThan(uncalled);
});

test('what a server has kept stays as it is, and what a command has kept a server replaces', async () => {
  await start([]);
  const ofCommand = await kept();
  expect(ofCommand).toHaveLength(2);
  await start(['greet']);
  expect(await kept()).toEqual(ofCommand);
  await start(['greet', 'ready']);
  const ofServer = await kept();
  for (const [at, { sum }] of ofServer.entries()) expect(sum).not.toBe(ofCommand[at]?.sum);
  await start(['greet']);
  await start(['greet', 'ready']);
  expect(await kept()).toEqual(ofServer);
});

test('code of another source, or code that was damaged, is not used', async () => {
  await start(['ready', 'greet']);
  await writeFile(join(folder, 'text.cjs'), `exports.text = 'HELLO';`);
  expect(await start(['ready', 'greet'])).toMatch(/^HELLO world/);
  for (const { path } of await kept()) await damage(path);
  const damaged = await kept();
  expect(await start(['ready', 'greet'])).toMatch(/^HELLO world/);
  const replaced = await kept();
  expect(replaced.map(({ path }) => path)).toEqual(damaged.map(({ path }) => path));
  for (const [at, { sum }] of replaced.entries()) expect(sum).not.toBe(damaged[at]?.sum);
});

test('a cache that is off, or cannot be written to, is no obstacle', async () => {
  await start(['ready'], { NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(await kept()).toEqual([]);
  await writeFile(join(folder, 'cache'), 'a file where the folder should be');
  expect(await start(['ready', 'greet'])).toMatch(/^Hello world/);
});

async function start(words: readonly string[], settings = {}): Promise<string> {
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(folder, 'cache'), ...settings };
  const { stdout } = await run(process.execPath, [join(folder, 'start.js'), ...words], { env });
  return stdout;
}

interface KeptFile {
  readonly path: string;
  readonly size: number;
  readonly inode: number;
  readonly sum: number;
}

/** The files of the cache that are not Node's own. */
async function kept(): Promise<readonly KeptFile[]> {
  const cache = join(folder, 'cache');
  const names = await readdir(cache, { recursive: true }).catch(() => []);
  return names
    .filter((name) => name.endsWith('.bundle'))
    .toSorted()
    .map((name) => {
      const path = join(cache, name);
      const { size, ino } = statSync(path);
      return { path, size, inode: ino, sum: crc32(readFileSync(path)) };
    });
}

/** Changes one byte in the middle. */
async function damage(path: string): Promise<void> {
  const bytes = await readFile(path);
  const at = Math.floor(bytes.length / 2);
  const file = await open(path, 'r+');
  await file.write(Buffer.from([(bytes[at] ?? 0) ^ 0xff]), 0, 1, at);
  await file.close();
}
