// The servers the tests talk to: found if one runs, started if only its programs are installed, never skipped.
// Vitest runs `setup` once, before any test file; test workers inherit the environment set here.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { isInMemory } from './memory-folder.ts';
import { installMissing, missingPrograms } from './programs.ts';

const usualUrl = 'postgres://postgres@127.0.0.1:5432/postgres';
const startLimitMs = 30_000;
const advice =
  'No PostgreSQL for the tests: set CONVOKE_TEST_POSTGRES_URL, run one on 127.0.0.1:5432 that trusts the user ' +
  'postgres, or install its programs (Debian: apt install postgresql)';

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  installPrograms();
  return findPostgres();
}

async function findPostgres(): Promise<(() => Promise<void>) | undefined> {
  const named = process.env['CONVOKE_TEST_POSTGRES_URL'];
  if (named !== undefined) {
    const problem = await problemReaching(named);
    if (problem === undefined) return undefined;
    throw new Error(`CONVOKE_TEST_POSTGRES_URL does not answer: ${problem}`);
  }
  const programs = installedPrograms();
  // One in memory answers sooner than one that is found, but takes seconds to start, which a few files do not save.
  const prefersOwn = programs !== undefined && isInMemory() && isWholeRun();
  if (!prefersOwn && (await problemReaching(usualUrl)) === undefined) {
    process.env['CONVOKE_TEST_POSTGRES_URL'] = usualUrl;
    return undefined;
  }
  if (programs !== undefined) {
    const server = await startPostgres(programs);
    process.env['CONVOKE_TEST_POSTGRES_URL'] = server.url;
    return server.stop;
  }
  if (process.env['CI'] !== undefined) throw new Error(advice);
  return undefined;
}

/** Whether vitest was started without the names of files. */
function isWholeRun(): boolean {
  return process.argv.slice(2).every((arg) => arg === 'run' || arg.startsWith('-'));
}

/** The database a PostgreSQL suite uses. Throws with advice if there is none: a suite never skips itself. */
export function postgresUrl(): string {
  const url = process.env['CONVOKE_TEST_POSTGRES_URL'];
  if (url === undefined) throw new Error(advice);
  return url;
}

const sandboxPrograms = ['bwrap', 'socat', 'setpriv', 'prlimit', 'python3'];
const sandboxPackages = ['bubblewrap', 'socat', 'util-linux', 'python3-minimal'];
const terminalPrograms = ['tmux'];
const natsPrograms = ['nats-server'];
const sandboxAdvice = `The sandbox tests need ${sandboxPrograms.join(', ')} (Debian: apt install ${sandboxPackages.join(' ')})`;

/** For suites that run programs in a sandbox. Throws with advice if a program is missing. */
export function requireSandbox(): void {
  const missing = missingPrograms(sandboxPrograms);
  if (missing.length > 0) throw new Error(`${sandboxAdvice}; missing: ${missing.join(', ')}`);
}

/** For suites with a person at a terminal. Throws with advice if tmux is missing. */
export function requireTerminal(): void {
  if (missingPrograms(terminalPrograms).length === 0) return;
  throw new Error('The terminal tests need tmux (Debian: apt install tmux)');
}

function installPrograms(): void {
  installMissing(
    [...sandboxPrograms, ...terminalPrograms, ...natsPrograms],
    [...sandboxPackages, ...terminalPrograms, ...natsPrograms],
  );
  if (process.env['CI'] === undefined) return;
  requireSandbox();
  requireTerminal();
}

/** Where Debian and its relatives keep the server's programs, the newest version first. */
function installedPrograms(): string | undefined {
  const found = globSync('/usr/lib/postgresql/*/bin/postgres').map((path) => dirname(path));
  const version = (folder: string) => Number(folder.split('/').at(-2));
  return found.toSorted((a, b) => version(b) - version(a))[0];
}

async function startPostgres(
  programs: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const account = unprivilegedAccount();
  const folder = await mkdtemp(join(tmpdir(), 'convoke-postgres-'));
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;

  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  execFileSync(join(programs, 'initdb'), initdb, { ...account, stdio: 'pipe', cwd: folder });

  // The shell waits for the end of its input, which comes when this process ends, even killed: no server is left.
  const guard = '"$@" & read -r _; kill -INT $!; wait $!; rm -rf "$0"';
  const place = ['-h', '127.0.0.1', '-p', `${port}`, '-c', 'unix_socket_directories='];
  const settings = [...place, '-c', 'max_connections=200'];
  const server = spawn(
    'sh',
    ['-c', guard, folder, join(programs, 'postgres'), '-D', data, ...settings],
    { ...account, cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const stop = async () => {
    server.stdin.end();
    await closed;
  };

  const deadline = performance.now() + startLimitMs;
  let problem = await problemReaching(url);
  while (problem !== undefined) {
    if (performance.now() > deadline) {
      await stop();
      throw new Error(`PostgreSQL from ${programs} did not start: ${problem}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    problem = await problemReaching(url);
  }
  return { url, stop };
}

/** PostgreSQL refuses to run as root; then it runs as its own account, or as nobody. */
function unprivilegedAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const name = existsSync('/var/lib/postgresql') ? 'postgres' : 'nobody';
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function problemReaching(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    await client.end();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message || String(error) : String(error);
  }
}
