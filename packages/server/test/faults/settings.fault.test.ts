import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { until } from '../support/eventually.ts';
import { openSecret } from '../support/inherited-files.ts';
import { createDatabase } from '../support/postgres-databases.ts';
import { Caller } from './support/caller.ts';
import { exchange } from './support/exchange.ts';
import { type ServerFolder, createServerFolder } from './support/server-folder.ts';
import { ServerProcess, type Spawning } from './support/server-process.ts';

const agents = { echo: { script: [{ say: '{{prompt}}' }] } };

describe('a server that cannot start (one clear line)', () => {
  let folder: ServerFolder;
  beforeEach(async () => {
    folder = await createServerFolder({ agents });
  });
  afterEach(() => folder.remove());

  const failing = async (spawning: Spawning, place = folder) => {
    const server = ServerProcess.spawn(place, spawning);
    onTestFinished(async () => void (await server.kill()));
    const { code, signal } = await server.ended;
    expect(signal).toBeNull();
    expect(code).toBeGreaterThan(0);
    expect(server.output).toMatch(/^convoke: [^\n]+\n$/);
    expect(server.output, 'no stack').not.toMatch(/\n\s+at |node:internal|Error:/);
    return { code, line: server.output.trim() };
  };

  test.each([
    ['a misspelt name', { CONVOKE_PROT: '80' }, ['CONVOKE_PROT', 'did you mean CONVOKE_PORT?']],
    ['an unknown name', { CONVOKE_WEATHER: 'good' }, ['CONVOKE_WEATHER', '--help']],
    ['a port that is none', { CONVOKE_PORT: 'http' }, ['CONVOKE_PORT=http', '0 to 65535']],
    ['a port that is too high', { CONVOKE_PORT: '65536' }, ['CONVOKE_PORT=65536', '0 to 65535']],
    [
      'a database of another kind',
      { CONVOKE_DATABASE_URL: 'mysql://root@localhost/x' },
      ['CONVOKE_DATABASE_URL', 'postgres://'],
    ],
    [
      'an address that is none',
      { CONVOKE_BASE_URL: 'convoke.example' },
      ['CONVOKE_BASE_URL=convoke.example', 'https://'],
    ],
    [
      'an address with the version of the API (spec §1)',
      { CONVOKE_BASE_URL: 'https://convoke.example/v1/' },
      ['CONVOKE_BASE_URL=https://convoke.example/v1/', 'must not end with /v1'],
    ],
    ['a word that is not offered', { CONVOKE_LOG_LEVEL: 'loud' }, ['CONVOKE_LOG_LEVEL=loud']],
    ['a number that is none', { CONVOKE_RUN_CONCURRENCY: '-1' }, ['CONVOKE_RUN_CONCURRENCY=-1']],
  ] satisfies [string, Record<string, string>, string[]][])(
    'a wrong setting is named: %s',
    async (_, settings, parts) => {
      const { code, line } = await failing({ command: 'serve', settings });
      expect(code).toBe(2);
      for (const part of parts) expect(line).toContain(part);
    },
  );

  test('a database of another master key ends the process, also with PostgreSQL', async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    const settings = { CONVOKE_DATABASE_URL: database.url };
    const first = await ServerProcess.start(folder, { command: 'serve', settings });
    await first.kill();
    const other = await createServerFolder({ agents });
    onTestFinished(() => other.remove());
    const { line } = await failing({ command: 'serve', settings }, other);
    expect(line).toContain('restore master.key of this deployment');
  });

  test('a password in a setting is not repeated', async () => {
    const settings = { CONVOKE_DATABASE_URL: 'mysql://root:hunter2@localhost/x' };
    expect((await failing({ settings })).line).not.toContain('hunter2');
    const unreachable = { CONVOKE_DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' };
    expect((await failing({ settings: unreachable })).line).not.toContain('hunter2');
  });

  test.each(['serve', 'dev'] as const)(
    'a second %s on the same data folder is refused, and the first continues',
    async (command) => {
      const first = await ServerProcess.start(folder);
      onTestFinished(async () => void (await first.kill()));
      const other = await createServerFolder({ agents });
      onTestFinished(() => other.remove());
      const { line } = await failing({ command, settings: { CONVOKE_PORT: String(other.port) } });
      expect(line).toContain(folder.dataDir);
      expect(line).toContain('CONVOKE_DATA_DIR');
      expect(await first.readiness()).toBe(200);
    },
  );

  test('a port in use is named; the data folder is free again afterwards', async () => {
    const first = await ServerProcess.start(folder);
    const other = await createServerFolder({ agents });
    onTestFinished(() => other.remove());
    const { line } = await failing({
      settings: { CONVOKE_DATA_DIR: other.dataDir },
    });
    expect(line).toContain(String(folder.port));
    await first.kill();
    const second = await ServerProcess.start(folder, {
      settings: { CONVOKE_DATA_DIR: other.dataDir },
    });
    await second.kill();
  });

  test('a data folder that cannot be one is named', async () => {
    const file = join(folder.agentsDir, 'a-file');
    writeFileSync(file, '');
    const { line } = await failing({ settings: { CONVOKE_DATA_DIR: join(file, 'data') } });
    expect(line).toContain(file);
  });

  test('a database that does not answer is named, without a wait', async () => {
    const settings = { CONVOKE_DATABASE_URL: 'postgres://postgres@127.0.0.1:1/none' };
    expect((await failing({ settings })).line).toMatch(/PostgreSQL/);
  });
});

describe('a server that can start anyway', () => {
  test('without an agents folder, or with a broken agent, and says so', async () => {
    const folder = await createServerFolder({ agents });
    onTestFinished(() => folder.remove());
    rmSync(folder.agentsDir, { recursive: true });
    const bare = await ServerProcess.start(folder, { command: 'serve' });
    expect(bare.output).toContain('the agents folder does not exist');
    await bare.kill();

    mkdirSync(join(folder.agentsDir, 'broken'), { recursive: true });
    writeFileSync(
      join(folder.agentsDir, 'broken', 'agent.yaml'),
      'schema: 1\nframwork: scripted\n',
    );
    const server = await ServerProcess.start(folder, { command: 'serve' });
    onTestFinished(async () => void (await server.kill()));
    expect(server.output).toContain('framwork is an unknown key');
    const health = await exchange({ method: 'GET', url: `${server.baseUrl}/healthz` });
    expect(health.status).toBe(200);
  });

  test('with files that it inherited and a folder that others can enter: it closes both', async () => {
    requireSandbox();
    const folder = await createServerFolder({ agents });
    onTestFinished(() => folder.remove());
    mkdirSync(join(folder.agentsDir, 'who'));
    writeFileSync(join(folder.agentsDir, 'who/agent.yaml'), JSON.stringify(who));
    mkdirSync(folder.dataDir, { mode: 0o755 });
    writeFileSync(join(folder.dataDir, 'convoke.db'), '');
    chmodSync(folder.dataDir, 0o755);
    chmodSync(join(folder.dataDir, 'convoke.db'), 0o644);
    const inherited = await openSecret();
    onTestFinished(() => inherited.close());
    const server = await ServerProcess.start(folder, {
      settings: { CONVOKE_LOG_LEVEL: 'info' },
      inherited,
    });
    onTestFinished(async () => void (await server.kill()));
    expect(openFiles(server.pid).join('\n')).not.toContain('inherited-secret');
    expect(server.output).toContain('closed files that the starting process left open');
    expect(modeOf(folder.dataDir)).toBe('700');
    const files = readdirSync(folder.dataDir, { withFileTypes: true });
    const names = files.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...databaseFiles, 'server.lock', 'address']));
    // A draft is renamed once it is written, and then has no mode.
    const modes = names.map((name) => [name, modeOf(join(folder.dataDir, name)) ?? '600']);
    expect(modes).toEqual(names.map((name) => [name, '600']));

    // Programs see the /etc that the server wrote for them, and have the usual umask.
    const caller = await Caller.open(folder);
    const session = await caller.openSession('who');
    const { id } = await caller.startRun(session.id, 'x');
    const run = await until(
      async () => {
        const read = await caller.run({ sessionId: session.id, runId: id });
        return read.status === 'completed' && read;
      },
      { what: 'end of the run' },
    );
    expect(run.output_text).toBe('agent 0022\n');
  });

  test('but not in a folder that all users share', async () => {
    const folder = await createServerFolder({ agents });
    onTestFinished(() => folder.remove());
    mkdirSync(folder.dataDir);
    chmodSync(folder.dataDir, 0o1777);
    const server = ServerProcess.spawn(folder);
    onTestFinished(async () => void (await server.kill()));
    expect((await server.ended).code).toBe(1);
    expect(server.output).toContain(`${folder.dataDir} is shared by all users`);
  });
});

const databaseFiles = ['convoke.db', 'convoke.db-wal', 'convoke.db-shm'];
const who = {
  framework: 'stdio',
  command: ['sh', '-c', 'read -r start; echo "$(id -un) $(umask)"'],
};

function modeOf(path: string): string | undefined {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  return mode === undefined ? undefined : (mode & 0o777).toString(8);
}

function openFiles(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
    } catch {
      // Closed since the folder was read.
      return [];
    }
  });
}
