// A folder like a fresh clone after `npm start`, with its own server and data folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { programPath } from './bundled-programs.ts';
import { compileCache } from './compile-cache.ts';
import { removeFolder } from './remove-folder.ts';
import { root } from './repository.ts';

export interface DevServer {
  /** The folder the server was started in: `agents/`, `examples/` and `.convoke/` are there. */
  readonly place: string;
  /** What it printed when it had started. */
  readonly welcome: string;
  /** What it wrote to standard error so far. */
  readonly errors: () => string;
  /** Of the server, as the welcome names it. */
  readonly processId: number;
  /** What `.convoke/quickstart.json` says. */
  readonly quickstart: Readonly<Record<string, string>>;
  /** Suspends the server until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Starts it again in the same folder at the same address, after it has died; perhaps with further settings. */
  restart(settings?: Readonly<Record<string, string>>): Promise<DevServer>;
  stop(): Promise<void>;
}

/** `prepare` may add to the folder before the server starts. */
export async function startDevServer(
  prepare?: (place: string) => Promise<void>,
): Promise<DevServer> {
  const place = await mkdtemp(join(tmpdir(), 'convoke-dev-'));
  await cp(join(root, 'agents'), join(place, 'agents'), { recursive: true });
  await mkdir(join(place, 'examples'));
  for (const name of ['hello.mjs', 'tour.mjs']) {
    await cp(join(root, 'examples', name), join(place, 'examples', name));
  }
  await prepare?.(place);
  // Not a port of outgoing connections: a reader that reconnects after a kill could be given it.
  return start(place, String(await freePort()));
}

async function start(
  place: string,
  port: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<DevServer> {
  const server = spawn(process.execPath, [programPath('convoke'), 'dev'], {
    cwd: place,
    env: { PATH: process.env['PATH'], ...compileCache, CONVOKE_PORT: port, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  server.stderr.on('data', (text: Buffer) => {
    process.stderr.write(text);
    errors += text.toString();
  });
  const dead = once(server, 'exit');
  // The server prints its welcome at once, so it arrives in one piece.
  const welcome = await new Promise<string>((resolve, reject) => {
    server.once('exit', () => reject(new Error('the server did not start')));
    server.stdout.on('data', (text: Buffer) => {
      if (text.includes('Convoke listens on')) resolve(text.toString());
    });
  });
  const text = await readFile(join(place, '.convoke/quickstart.json'), 'utf8');
  const quickstart = JSON.parse(text) as Record<string, string>;
  return {
    place,
    welcome,
    errors: () => errors,
    processId: Number(/, process (\d+) /.exec(welcome)?.[1]),
    quickstart,
    async restart(more) {
      await dead;
      return start(place, new URL(quickstart['base_url'] ?? '').port, more);
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async stop() {
      server.kill('SIGKILL');
      await removeFolder(place);
    },
  };
}
