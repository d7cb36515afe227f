// Runs the command line of this checkout. While no source has changed since it was bundled, that is a bundle, which
// starts in half the time: Node has to find, read and link a dozen files instead of 900. Else it is the sources, and
// a server makes a new bundle for later starts, in another process.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, statSync, utimesSync } from 'node:fs';
import module from 'node:module';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readSources } from './launch.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bundler = fileURLToPath(new URL('bundle-checkout.ts', import.meta.url));
export const bundlesFolder = join(root, '.cache', 'programs');
/** Names the bundle of the last bundling and what it was made of. */
export const currentFile = join(bundlesFolder, 'current.json');
export const tableRowBytes = 8;
/** Long enough for a server to have started: bundling takes a second of a processor. */
const bundleAfterMs = 5000;
const useNoticeMs = 60 * 60_000;

/**
 * What tells a file from what it was: size, time of the content, time of the inode, inode. A copy of the checkout has
 * other inodes.
 * @typedef {readonly [path: string, size: number, modified: number, changed: number, inode: number]} Input
 * @typedef {{ readonly root: string, readonly folder: string, readonly inputs: readonly Input[] }} Current
 */

export async function runCommandLine() {
  const folder = currentBundle();
  if (folder === undefined) {
    readSources();
    if (['dev', 'serve'].includes(process.argv[2] ?? '')) bundleLater();
    await import('../packages/cli/src/main.ts');
    return;
  }
  // Beside the bundle, so that both are removed together.
  module.enableCompileCache(join(folder, 'compiled'));
  nameSourcesInStacks(folder);
  markUsed(folder);
  await import(pathToFileURL(join(folder, 'dist/convoke.js')).href);
}

/** Returns the folder of the bundle; undefined when there is none, or one of its inputs is not what it was. */
function currentBundle() {
  try {
    const text = readFileSync(currentFile, 'utf8');
    const current = /** @type {Current} */ (JSON.parse(text));
    // A checkout that was moved: a bundle has the places of its sources in it.
    if (current.root !== root || !current.inputs.every(isAsItWas)) return undefined;
    return join(bundlesFolder, current.folder);
  } catch {
    return undefined;
  }
}

/** @param {Input} input */
function isAsItWas([path, size, modified, changed, inode]) {
  const now = statSync(join(root, path), { throwIfNoEntry: false });
  return (
    now?.size === size && now.mtimeMs === modified && now.ctimeMs === changed && now.ino === inode
  );
}

function bundleLater() {
  const start = () => {
    const child = spawn(process.execPath, [bundler], { cwd: root, stdio: 'ignore' });
    child.once('error', () => {});
    child.unref();
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  };
  setTimeout(start, bundleAfterMs).unref();
}

/**
 * A program imports parts of its bundle when it first needs them, so a bundle in use must not be removed.
 * @param {string} folder
 */
function markUsed(folder) {
  const mark = () => utimesSync(folder, new Date(), new Date());
  mark();
  setInterval(mark, useNoticeMs).unref();
}

/**
 * Makes the frames of stack traces name sources instead of bundled files. A table beside each file has a row per line;
 * rows are read when a stack is, so that neither the start nor the memory pays for it, as with the source maps of Node.
 * @param {string} folder
 */
function nameSourcesInStacks(folder) {
  const bundled = pathToFileURL(folder).href;
  Error.prepareStackTrace = (error, frames) => {
    const lines = frames.map((frame) => `\n    at ${inSources(frame, bundled)}`);
    return `${Error.prototype.toString.call(error)}${lines.join('')}`;
  };
}

/**
 * @param {NodeJS.CallSite & { toString(): string }} frame
 * @param {string} bundled
 */
function inSources(frame, bundled) {
  const file = frame.getFileName() ?? '';
  const line = frame.getLineNumber() ?? 0;
  const source = file.startsWith(bundled) ? sourceOf(fileURLToPath(file), line) : undefined;
  if (source === undefined) return frame.toString();
  return frame.toString().replace(`${file}:${line}:${frame.getColumnNumber()}`, source);
}

/**
 * @param {string} file
 * @param {number} line
 * @returns {string | undefined}
 */
function sourceOf(file, line) {
  try {
    const row = readRow(`${file}.lines`, line - 1);
    const text = readFileSync(`${file}.sources.json`, 'utf8');
    const source = /** @type {string[]} */ (JSON.parse(text))[row.readUInt32LE(0)];
    return source && `${pathToFileURL(join(root, source)).href}:${row.readUInt32LE(4)}`;
  } catch {
    // The bundle was removed below a running program.
    return undefined;
  }
}

/**
 * @param {string} path
 * @param {number} at
 */
function readRow(path, at) {
  const row = Buffer.alloc(tableRowBytes, 0xff);
  const file = openSync(path, 'r');
  try {
    readSync(file, row, { position: at * tableRowBytes });
    return row;
  } finally {
    closeSync(file);
  }
}
