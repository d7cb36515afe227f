import { constants } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { hasCode } from '../runtime/error-code.ts';

const statusMaxCharacters = 64 * 1024;
const childPid = z.object({ 'child-pid': z.int().positive() });
const exitCode = z.object({ 'exit-code': z.int() });

/**
 * Reads bubblewrap's status output, one JSON document per line: first the process id, at the end the exit code, which
 * is missing when the sandbox could not be set up.
 */
export async function readStatus(
  stream: Readable,
  onInit: (pid: number) => void,
): Promise<number | undefined> {
  let rest = '';
  let code: number | undefined;
  const take = (line: string) => {
    const document = parse(line);
    const init = childPid.safeParse(document);
    if (init.success) onInit(init.data['child-pid']);
    const exit = exitCode.safeParse(document);
    if (exit.success) code = exit.data['exit-code'];
  };
  await new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).slice(-statusMaxCharacters).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    });
    stream.once('close', resolve);
  });
  return code;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export function readable(stream: unknown): Readable {
  if (!(stream instanceof Readable)) throw new Error('not an output of a child process');
  // A process that ends closes its pipes; `exited` reports its end.
  return stream.on('error', () => undefined);
}

export function writable(stream: unknown): Writable {
  if (!(stream instanceof Writable)) throw new Error('not an input of a child process');
  return stream.on('error', () => undefined);
}

/**
 * Sends a signal; a negative pid means a process group. Ignores processes that have ended, also when the id belongs to
 * a process of another user by now: this is called in event handlers, where an exception would end the server.
 */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH', 'EPERM')) throw error;
  }
}

/** Exit code that a shell reports for a program ended by a signal. */
export function signalCode(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}
