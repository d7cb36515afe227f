// Every command of the checkout starts here: find a suitable Node, install what is missing, then do the work. Started
// directly by a suitable Node, the work happens in this process. Under a Node that is too old, or under npm, this
// process starts itself again under the right one and is then only its stand-in: it passes signals on and exits with
// the exit status of the other one.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies } from './dependencies.mjs';
import { findNode } from './node-runtime.mjs';
import { ended, passedSignals } from './processes.mjs';

const parentPollMs = 200;
const compiled = fileURLToPath(new URL('../../../.cache/compiled', import.meta.url));
const sources = new URL('../../', import.meta.url).href;

/** @param {() => unknown} work */
export async function launch(work) {
  try {
    const node = await findNode();
    if (process.env['CONVOKE_STAND_IN'] !== undefined) dieWithStandIn();
    else if (node !== process.execPath || isUnderNpm()) {
      return await standInFor(node, process.argv.slice(1));
    }
    process.env['PATH'] = `${dirname(node)}${delimiter}${process.env['PATH']}`;
    await ensureDependencies();
  } catch (error) {
    console.error(`convoke: ${reasonsOf(error)}`);
    process.exit(1);
  }
  await work();
}

/**
 * Before TypeScript sources are imported: only the first start strips types and compiles; later ones read the cache.
 */
export function readSources() {
  module.enableCompileCache(compiled);
  resolveSourcesByName();
}

/**
 * Resolves one source's import of another from its name alone. Node would look up the real path of each file and the
 * manifest above it, which is a sixth of the time of a start; sources name files that exist, and all are TypeScript.
 */
function resolveSourcesByName() {
  module.registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '' } = context;
      const isSource = parentURL.startsWith(sources) && !parentURL.includes('/node_modules/');
      if (!isSource || !/^\.\.?\/.*\.ts$/.test(specifier)) return next(specifier, context);
      const { href: url } = new URL(specifier, parentURL);
      return { url, format: 'module-typescript', shortCircuit: true };
    },
  });
}

/**
 * The other process gets a group of its own, so that Ctrl-C, which a terminal sends to a whole group, reaches it once
 * and through here, and not a second time from the terminal.
 * @param {string} node
 * @param {string[]} args
 */
export async function standInFor(node, args) {
  const child = spawn(node, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
    env: { ...process.env, CONVOKE_STAND_IN: String(process.pid) },
  });
  if (isUnderNpm()) stopWithParent();
  const end = await ended(child);
  if (typeof end === 'string') process.kill(process.pid, end);
  else process.exit(end ?? 1);
}

/** The channel closes when the stand-in is gone, even killed: then no process is left to pass signals on. */
export function dieWithStandIn() {
  delete process.env['CONVOKE_STAND_IN'];
  // Processes started from here are not npm scripts.
  delete process.env['npm_lifecycle_event'];
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

function isUnderNpm() {
  return process.env['npm_lifecycle_event'] !== undefined;
}

/**
 * npm passes a signal to the shell between it and us, and Debian's shell dies of it without passing it on. This
 * process would never receive it, so the loss of the parent counts as SIGTERM, unless a signal arrived here too.
 */
function stopWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, parentPollMs);
  for (const signal of passedSignals) process.once(signal, () => clearInterval(watch));
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function reasonsOf(error) {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}\n${reasonsOf(error.cause)}`;
}
