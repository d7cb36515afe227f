// A folder like a fresh clone after `npm start`, with its own server and data folder.
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCache } from './compile-cache.ts';
import { removeFolder } from './remove-folder.ts';
import { root } from './repository.ts';

export interface DevServer {
  /** The folder the server was started in: `agents/`, `examples/` and `.convoke/` are there. */
  readonly place: string;
  /** What it printed when it had started. */
  readonly welcome: string;
  /** What `.convoke/quickstart.json` says. */
  readonly quickstart: Readonly<Record<string, string>>;
  /** Suspends the server until `thaw`. */
  freeze(): void;
  thaw(): void;
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
  const server = spawn(process.execPath, [join(root, 'packages/cli/src/main.ts'), 'dev'], {
    cwd: place,
    env: { PATH: process.env['PATH'], ...compileCache, CONVOKE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // The server prints its welcome at once, so it arrives in one piece.
  const welcome = await new Promise<string>((resolve, reject) => {
    server.once('exit', () => reject(new Error('the server did not start')));
    server.stdout.on('data', (text: Buffer) => {
      if (text.includes('Convoke listens on')) resolve(text.toString());
    });
  });
  const text = await readFile(join(place, '.convoke/quickstart.json'), 'utf8');
  return {
    place,
    welcome,
    quickstart: JSON.parse(text) as Record<string, string>,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async stop() {
      server.kill('SIGKILL');
      await removeFolder(place);
    },
  };
}
