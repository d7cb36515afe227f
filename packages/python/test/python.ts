import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { installMissing } from '../../../test/programs.ts';

export const modes = ['blocking', 'asyncio'] as const;
export type Mode = (typeof modes)[number];

const here = import.meta.dirname;

/**
 * Runs Python with the client of the checkout. `-B`: compiled files would change the sources that bundles are named by.
 */
export function startPython(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcessByStdio<Writable, Readable, Readable> {
  requirePython();
  return spawn('python3', ['-B', '-W', 'always::ResourceWarning', ...args], {
    cwd: here,
    env: {
      PATH: process.env['PATH'],
      PYTHONPATH: join(here, '../src'),
      PYTHONUTF8: '1',
      ...env,
    },
    stdio: 'pipe',
  });
}

/** Debian's smallest Python lacks half of the standard library. */
function requirePython(): void {
  const wanted = 'import asyncio, email.utils, ssl, unittest, urllib.request';
  if (spawnSync('python3', ['-c', wanted]).status !== 0) installMissing(['pydoc3'], ['python3']);
}

export function programPath(name: string): string {
  return join(here, 'programs', name);
}

/** Runs a program to its end and returns what it printed; throws what it wrote to its errors if it failed. */
export async function python(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const program = startPython(args, env);
  onTestFinished(() => void program.kill('SIGKILL'));
  const [printed, complaints, [code]] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    once(program, 'exit') as Promise<[number | null]>,
  ]);
  if (code !== 0 || complaints !== '') throw new Error(`${args.join(' ')}: ${code}\n${complaints}`);
  return printed;
}

export interface Asked extends AsyncDisposable {
  /** Sends one line of JSON and returns the line that answers it. */
  ask<T>(question: object): Promise<T>;
}

/** A program that answers one question after the other, so that a test with many pays for one start. */
export function askPython(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Asked {
  const program = startPython(args, env);
  const complaints = text(program.stderr);
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    async ask<T>(question: object) {
      program.stdin.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the program ended: ${await complaints}`);
      return JSON.parse(value) as T;
    },
    async [Symbol.asyncDispose]() {
      program.stdin.end();
      if (program.exitCode === null && program.signalCode === null) await once(program, 'exit');
      const said = await complaints;
      if (said !== '') throw new Error(said);
    },
  };
}
