import { mkdtemp, readFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { buildConsole } from '../scripts/build-console.ts';

const kilobyte = 1024;
let folder = '';
const texts = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-console-'));
  await buildConsole(folder);
  for (const name of await readdir(folder, { recursive: true })) {
    if (/\.(js|css|html)$/.test(name)) texts.set(name, await readFile(join(folder, name), 'utf8'));
  }
});

afterAll(() => removeFolder(folder));

function gzipped(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + gzipSync(texts.get(name) ?? '').length, 0);
}

/** A script with everything that it imports before it runs. */
function withStatic(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = texts.get(name) ?? '';
  for (const match of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) {
    withStatic(`assets/${match[1]}`, seen);
  }
  return seen;
}

const scripts = () => [...texts.keys()].filter((name) => name.endsWith('.js'));

/** What is loaded before Home is shown. */
function firstScreen(): Set<string> {
  const named = scripts().filter((name) => /\/(index|home)-[\w-]+\.js$/.test(name));
  expect(named).toHaveLength(2);
  return new Set(named.flatMap((name) => [...withStatic(name)]));
}

/** Files that some script loads when they are needed: the screens, and what a screen loads later. */
function lazyFiles(): string[] {
  const named = scripts().flatMap((name) => [
    ...(texts.get(name) ?? '').matchAll(/import\(\s*["'`]\.\/([\w.-]+\.js)["'`]\s*\)/g),
  ]);
  return [...new Set(named.map((match) => `assets/${match[1]}`))].sort();
}

test('the first screen needs at most 60 KB of script, CSS 15 KB (gzip)', () => {
  const first = firstScreen();
  expect(first.size).toBeGreaterThan(2);
  expect(gzipped([...first])).toBeLessThanOrEqual(60 * kilobyte);
  expect(gzipped([...texts.keys()].filter((name) => name.endsWith('.css')))).toBeLessThanOrEqual(
    15 * kilobyte,
  );
});

test('no screen waits for more than 32 KB of script beyond the first one (D-970)', () => {
  const first = firstScreen();
  const lazy = lazyFiles();
  const beyond = (name: string) => [...withStatic(name)].filter((each) => !first.has(each));
  const kilobytes = lazy.map((name) => [name, gzipped(beyond(name)) / kilobyte] as const);
  expect(lazy.length).toBeGreaterThan(15);
  expect(new Set([...first, ...lazy.flatMap(beyond)])).toEqual(new Set(scripts()));
  expect(kilobytes.filter(([, size]) => size > 32)).toEqual([]);
  expect(gzipped(scripts())).toBeLessThanOrEqual(250 * kilobyte);
});

test('the page has no inline script or style, and names no other origin', () => {
  const page = texts.get('index.html') ?? '';
  expect(page).not.toMatch(/<style|style=|onclick|<script(?![^>]*\bsrc=)/);
  expect(page.match(/https?:\/\//g)).toBeNull();
  expect(page).toContain('/console/assets/');
});

test('no script names a folder of the machine that built it', () => {
  const home = fileURLToPath(new URL('..', import.meta.url));
  expect(scripts().filter((name) => texts.get(name)?.includes(home))).toEqual([]);
});

test('no script turns text into HTML or code: Trusted Types would refuse it (console §3)', () => {
  const refused = /\.(outerHTML|insertAdjacentHTML)\b|document\.write|\beval\(|new Function\(/;
  expect(scripts().filter((name) => refused.test(texts.get(name) ?? ''))).toEqual([]);
});

test('every file that the server sends is there plain, as gzip and as brotli', async () => {
  const names = new Set(await readdir(folder, { recursive: true }));
  const wanted = [...texts.keys()].flatMap((name) => [`${name}.gz`, `${name}.br`]);
  expect(wanted.filter((name) => !names.has(name))).toEqual([]);
});
