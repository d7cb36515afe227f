// Loads the modules of a bundle together with the code that V8 compiled for them in an earlier start. Node's own cache
// keeps only what V8 compiles while it loads a file, not the two thousand functions that a start calls after that. The
// bundler copies this file beside the modules, which are CommonJS: Node can add to the cached code of a script only.
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const headerBytes = 16;
/** Time for what a server does right after it has become ready, and less than until it changes a flag of V8. */
const settleMs = 1000;

/**
 * `isWhole`: written by a server after its start, and so with all that a start calls. Other commands call less.
 * @typedef {{ readonly code: Buffer, readonly isWhole: boolean }} Kept
 * @typedef {{ readonly path: string, readonly sourceSum: number, readonly script: Script, readonly hasKept: boolean }} Unkept
 */

/** @type {Map<string, { exports: object }>} */
const loaded = new Map();
/** @type {Unkept[]} */
let unkept = [];
let isStarted = false;
let isSettled = false;

subscribe('convoke.ready', () => {
  isStarted = true;
  setTimeout(() => {
    keepAll();
    // From here on a server changes flags of V8, which refuses code that was kept under other flags.
    isSettled = true;
  }, settleMs).unref();
});
process.once('exit', keepAll);

/**
 * Returns the exports of a module of the bundle. The modules have only ASCII characters.
 * @param {string} url
 * @returns {object}
 */
export function loadModule(url) {
  const known = loaded.get(url);
  if (known !== undefined) return known.exports;
  /** @type {{ exports: object }} */
  const module = { exports: {} };
  loaded.set(url, module);
  const requirePackage = createRequire(url);
  /** @param {string} id */
  const requireModule = (id) =>
    id.startsWith('.')
      ? loadModule(new URL(id, url).href)
      : /** @type {object} */ (requirePackage(id));
  const run = /** @type {(...parts: unknown[]) => void} */ (compiled(url).runInThisContext());
  run(module.exports, requireModule, module, fileURLToPath(url), importPackage);
  return module.exports;
}

/**
 * What scripts call instead of `import()`; modules of the bundle do not come here.
 * @param {string} specifier
 * @returns {Promise<unknown>}
 */
function importPackage(specifier) {
  return import(specifier);
}

/** @param {string} url */
function compiled(url) {
  const source = readFileSync(fileURLToPath(url), 'latin1');
  const sourceSum = crc32(source);
  const path = pathOfKept(url);
  const kept = path === undefined ? undefined : readKept(path, sourceSum);
  // On the first line, so that the lines of stacks are those of the file.
  const parameters = 'exports, require, module, __filename, importPackage';
  const script = new Script(`(function (${parameters}) { 'use strict'; ${source}\n})`, {
    filename: url,
    cachedData: kept?.code,
  });
  const hasKept = kept !== undefined && script.cachedDataRejected !== true;
  const isWhole = hasKept && kept.isWhole;
  if (path !== undefined && !isWhole && !isSettled)
    unkept.push({ path, sourceSum, script, hasKept });
  return script;
}

/**
 * Beside what Node keeps: in a folder for its version, and in none where its cache is off.
 * @param {string} url
 */
function pathOfKept(url) {
  const folder = getCompileCacheDir();
  return folder && join(folder, `${crc32(url).toString(16).padStart(8, '0')}.bundle`);
}

/**
 * @param {string} path
 * @param {number} sourceSum
 * @returns {Kept | undefined}
 */
function readKept(path, sourceSum) {
  try {
    const file = readFileSync(path);
    const code = file.subarray(headerBytes);
    const isIntact = file.readUInt32LE(0) === sourceSum && file.readUInt32LE(4) === crc32(code);
    return isIntact ? { code, isWhole: file.readUInt32LE(8) === 1 } : undefined;
  } catch {
    return undefined;
  }
}

function keepAll() {
  const all = unkept;
  unkept = [];
  for (const one of all) if (isStarted || !one.hasKept) keep(one);
}

/**
 * In one step: a start finds the code of the one before or this one.
 * @param {Unkept} unkept
 */
function keep({ path, sourceSum, script }) {
  const code = script.createCachedData();
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(sourceSum, 0);
  header.writeUInt32LE(crc32(code), 4);
  header.writeUInt32LE(isStarted ? 1 : 0, 8);
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, Buffer.concat([header, code]), { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    // A folder that cannot be written to: the next start compiles again.
  }
}
