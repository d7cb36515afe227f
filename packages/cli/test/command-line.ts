// Runs the command line as a script does: another process, no terminal, nothing of this machine's settings.
import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { programPath } from '../../../test/bundled-programs.ts';
import { compileCache } from '../../../test/compile-cache.ts';
import { startDevServer } from '../../../test/dev-server.ts';
import { removeFolder } from '../../../test/remove-folder.ts';

export const mainPath = programPath('convoke');

export function ownEnvironment(settings: string): Record<string, string> {
  const PATH = process.env['PATH'] ?? '';
  return { PATH, XDG_CONFIG_HOME: settings, ...compileCache };
}

/** A test that starts many processes gets the time they take on a machine that is busy otherwise. */
export const manyProcessesMs = 120_000;

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface CommandLine {
  /** Where it keeps its settings: XDG_CONFIG_HOME. */
  readonly settings: string;
  run(args: readonly string[], more?: More): Promise<Ended>;
  /** With --json; fails unless it ends well and prints one JSON value and nothing else. */
  json<T = Record<string, string>>(...args: readonly string[]): Promise<T>;
  remove(): Promise<void>;
}

interface More {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

/** In a folder, which may be that of a development server. */
export async function createCommandLine(place: string): Promise<CommandLine> {
  const settings = await mkdtemp(join(tmpdir(), 'convoke-settings-'));
  const run = (args: readonly string[], { env = {}, input = '', cwd = place }: More = {}) => {
    const child = spawn(process.execPath, [mainPath, ...args], {
      cwd,
      env: { ...ownEnvironment(settings), ...env },
    });
    child.stdin.end(input);
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (text: Buffer) => (said.stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (said.stderr += text.toString()));
    return new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ ...said, code })));
  };
  return {
    settings,
    run,
    async json<T>(...args: readonly string[]): Promise<T> {
      const { stdout, stderr, code } = await run([...args, '--json']);
      if (code !== 0) throw new Error(`convoke ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    remove: () => removeFolder(settings),
  };
}

/**
 * A development server and a command line in its folder, for all tests of a file. `prepare` may add to the folder
 * before.
 */
export async function openCommandLine(prepare?: (place: string) => Promise<void>) {
  const server = await startDevServer(prepare);
  const convoke = await createCommandLine(server.place);
  afterAll(async () => {
    await convoke.remove();
    await server.stop();
  });
  return { server, convoke };
}

export interface Line {
  readonly id: string;
  readonly type: string;
  readonly session_id?: string;
  readonly run_id?: string;
}

/** The events that `--json` printed, one a line. */
export function parsedLines(text: string): Line[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}
