import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { pinned, serverCore } from '../cores.ts';

/** A run whose agent says `deltas` words, after `waitMs`. */
export interface Talk {
  readonly deltas: number;
  readonly waitMs: number;
}

/** A server of the comparison, running. */
export interface Peer {
  readonly name: string;
  readonly processes: readonly ChildProcess[];
  /** Asks for a run of one word; resolves when the server has taken it in. `caller` counts from 0. */
  start(caller: number): Promise<void>;
  /** Asks for a run and reads it to its end. */
  talk(caller: number, talk: Talk): Promise<void>;
  /** Asks for a run that `readers` read to its end, all there before it speaks; resolves with the time of the last. */
  fanOut(readers: number, talk: Talk): Promise<number>;
}

const readyWithinMs = 60_000;
const ticksPerSecond = 100;

/** Starts a program of a peer on the core of the servers. */
export function startProgram(
  command: readonly [string, ...string[]],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): ChildProcess {
  const [program, ...args] = pinned(serverCore, command);
  const env = { ...process.env, ...options.env };
  return spawn(program, args, { cwd: options.cwd, env, stdio: 'ignore' });
}

/** Polls an address until it answers at all. */
export async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (const until = performance.now() + readyWithinMs; performance.now() < until; ) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answered) return;
    if (child.exitCode !== null) break;
    await setTimeout(50);
  }
  throw new Error(`${child.spawnargs.join(' ')} did not become ready`);
}

/** Resident memory of all processes, in MB. */
export function residentOf({ processes }: Pick<Peer, 'processes'>): number {
  const kilobytes = processes.map(({ pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  });
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1024;
}

/** Processor time of all processes since their start, in ms. */
export function processorOf({ processes }: Pick<Peer, 'processes'>): number {
  const ticks = processes.flatMap(({ pid }) => {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    return fields.split(' ').slice(11, 13).map(Number);
  });
  return (ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond) * 1000;
}

/** Resolves when the servers have nothing left to do: less than a tenth of a core for half a second. */
export async function untilAtRest(peer: Pick<Peer, 'processes'>): Promise<void> {
  for (let before = processorOf(peer); ; ) {
    await setTimeout(500);
    const now = processorOf(peer);
    if (now - before < 50) return;
    before = now;
  }
}

export async function stop({ processes }: Pick<Peer, 'processes'>): Promise<void> {
  await Promise.all(
    processes.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }),
  );
}
