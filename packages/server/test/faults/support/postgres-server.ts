import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, globSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeFolderSync } from '../../../../../test/remove-folder.ts';
import { query } from '../../support/postgres-databases.ts';
import { freePort } from '../../../../../test/free-port.ts';

/** A PostgreSQL of the test's own, to be stopped and started at will. It runs without privileges. */
export class PostgresServer {
  /** For the service: as a role that owns its database and is bound by row-level security. */
  readonly url: string;
  /** For the test, as the administrator. */
  readonly adminUrl: string;
  readonly #programs: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #account = unprivilegedAccount();
  readonly #keeper: ChildProcess;

  private constructor(programs: string, port: number) {
    this.#programs = programs;
    this.#port = port;
    this.url = `postgres://convoke@127.0.0.1:${port}/convoke`;
    this.adminUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
    this.#folder = mkdtempSync(join(tmpdir(), 'convoke-postgres-'));
    if (this.#account !== undefined) {
      chownSync(this.#folder, this.#account.uid, this.#account.gid);
    }
    this.#keeper = this.#keep();
    this.#run('initdb', ['-D', this.#data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8']);
  }

  static async open(): Promise<PostgresServer> {
    const found = globSync('/usr/lib/postgresql/*/bin/pg_ctl').toSorted().at(-1);
    if (found === undefined) throw new Error('PostgreSQL is missing: apt install postgresql');
    const server = new PostgresServer(dirname(found), await freePort());
    server.start();
    await query(server.adminUrl, 'create role convoke login');
    await query(server.adminUrl, 'create database convoke owner convoke');
    return server;
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  /** Returns when it takes connections. */
  start(): void {
    const settings = `-h 127.0.0.1 -p ${this.#port} -c unix_socket_directories=`;
    const log = join(this.#folder, 'log');
    this.#run('pg_ctl', ['start', '-w', '-D', this.#data, '-l', log, '-o', settings]);
  }

  /** As if its machine had failed: nothing is finished, the next start recovers. */
  stopAtOnce(): void {
    this.#run('pg_ctl', ['stop', '-w', '-m', 'immediate', '-D', this.#data]);
  }

  remove(): void {
    try {
      this.stopAtOnce();
    } catch {
      // It was not running.
    }
    removeFolderSync(this.#folder);
    this.#keeper.stdin?.destroy();
  }

  /** Ends the database when the input of the keeper ends: with `remove`, or because the test was interrupted. */
  #keep(): ChildProcess {
    const script = 'cat; "$1" stop -m immediate -D "$2"; rm -rf "$3"';
    const words = [join(this.#programs, 'pg_ctl'), this.#data, this.#folder];
    return spawn('sh', ['-c', script, 'keeper', ...words], {
      ...this.#account,
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  }

  #run(program: string, words: readonly string[]): void {
    execFileSync(join(this.#programs, program), words, {
      ...this.#account,
      cwd: this.#folder,
      stdio: 'ignore',
    });
  }
}

function unprivilegedAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());
  return { uid: id('-u'), gid: id('-g') };
}
