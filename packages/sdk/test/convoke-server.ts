import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programPath } from '../../../test/bundled-programs.ts';
import { compileCache } from '../../../test/compile-cache.ts';
import { removeFolder } from '../../../test/remove-folder.ts';

/** What the server wrote for newcomers. */
export interface Quickstart {
  readonly base_url: string;
  readonly organization_id: string;
  readonly tenant_id: string;
  readonly owner_token: string;
  readonly client_id: string;
  readonly client_secret: string;
}

export interface ConvokeServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly quickstart: Quickstart;
  /** `kill -9`, then the same data on the same port. */
  restart(): Promise<void>;
}

const here = import.meta.dirname;

/** The real server, in a process of its own, with the agents of the repository and of these tests. */
export async function startConvoke(
  env: Readonly<Record<string, string>> = {},
): Promise<ConvokeServer> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-sdk-'));
  const agents = join(folder, 'agents');
  await cp(join(here, '../../../agents'), agents, { recursive: true });
  await cp(join(here, 'agents'), agents, { recursive: true });
  const dataDir = join(folder, 'data');
  const settings = {
    CONVOKE_DATA_DIR: dataDir,
    CONVOKE_AGENTS_DIR: agents,
    CONVOKE_LOG_LEVEL: 'error',
    CONVOKE_API_RATE_PER_MINUTE: '0',
    CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0',
    ...env,
  };
  let { child, baseUrl } = await launch({ ...settings, CONVOKE_PORT: '0' });
  const port = new URL(baseUrl).port;
  const text = await readFile(join(dataDir, 'quickstart.json'), 'utf8');
  return {
    baseUrl,
    quickstart: JSON.parse(text) as Quickstart,
    async restart() {
      await kill(child);
      ({ child, baseUrl } = await launch({ ...settings, CONVOKE_PORT: port }));
    },
    async [Symbol.asyncDispose]() {
      await kill(child);
      await removeFolder(folder);
    },
  };
}

/** What a `Convoke` needs to talk to it, or to something in front of it. */
export function clientOf({ quickstart }: ConvokeServer, baseUrl = quickstart.base_url) {
  return {
    baseUrl,
    clientId: quickstart.client_id,
    clientSecret: quickstart.client_secret,
    retry: { baseMs: 5, maxMs: 100 },
  };
}

async function launch(env: Readonly<Record<string, string>>) {
  const child = fork(programPath('sdk-server'), {
    env: { PATH: process.env['PATH'], ...compileCache, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const started = once(child, 'message') as Promise<[{ baseUrl: string }]>;
  const ended = once(child, 'exit').then(() => {
    throw new Error('the server did not start');
  });
  const [{ baseUrl }] = await Promise.race([started, ended]);
  ended.catch(() => {});
  return { child, baseUrl };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
