// Starts another program and waits for it. Interrupting the waiting process interrupts the program too.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';

/** @type {readonly NodeJS.Signals[]} */
export const passedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program without showing its output; returns the output and how the program ended.
 * @param {string} command
 * @param {string[]} args
 * @param {{
 *   cwd?: string, timeout?: number, killSignal?: NodeJS.Signals, niceness?: number, env?: NodeJS.ProcessEnv
 * }} [options]
 */
export async function runQuietly(command, args, { niceness = 0, ...options } = {}) {
  /** @type {Buffer[]} */
  const said = [];
  const child = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm is a batch file on Windows, which only a shell can start.
    shell: process.platform === 'win32' && command === 'npm',
  });
  // What it starts later inherits this.
  if (child.pid !== undefined && niceness > 0) setPriority(child.pid, niceness);
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (/** @type {Buffer} */ chunk) => said.push(chunk));
  }
  const end = await ended(child);
  return { end, said: Buffer.concat(said).toString().trim() };
}

/**
 * Like `runQuietly`, but throws with the output if the program fails.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string }} [options]
 */
export async function mustRun(command, args, options) {
  const { end, said } = await runQuietly(command, args, options);
  if (end !== 0) throw new Error(`${command} ${args.join(' ')} failed (${end})\n${said}`);
}

/**
 * Resolves with the exit code, or with the signal's name where a signal ended the program.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number | NodeJS.Signals | null>}
 */
export function ended(child) {
  /** @param {NodeJS.Signals} signal */
  const pass = (signal) => {
    // Windows has no signals to pass: there a console interrupt reaches every program directly.
    if (process.platform !== 'win32') child.kill(signal);
  };
  for (const signal of passedSignals) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ?? code));
  }).finally(() => {
    for (const signal of passedSignals) process.off(signal, pass);
  });
}
