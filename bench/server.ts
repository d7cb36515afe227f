/** Starts, asks and stops the servers that are measured; each is a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchAgent, agentFile, agentName } from './agents.ts';
import type { Address } from './client.ts';
import { pinned, serverCore } from './cores.ts';
import type { Question, Usage } from './probe.ts';
import type { TargetName } from './scenario.ts';
import { programPath } from '../test/bundled-programs.ts';
import { freePort } from '../test/free-port.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const probe = new URL('probe.ts', import.meta.url).href;
const reference = fileURLToPath(new URL('reference.ts', import.meta.url));
/** The sources, or in a test what the other tests start. */
const convoke = programPath('convoke');

/** Bounds a server that hangs. One that has ended is noticed at once, and a busy machine loads the sources slowly. */
const readyWithinMs = 120_000;
const tokenLivesMs = 5 * 60_000;

export interface ServerOptions {
  readonly name: TargetName;
  /** A folder of its own; what a server left there is found by the next one. */
  readonly folder: string;
  readonly agents: readonly BenchAgent[];
  /** A `bin/convoke.mjs` to start instead of the sources. */
  readonly program?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** One of the servers of a database: its settings, and the data folder of the one that knows the client's secret. */
  readonly member?: { readonly settings: Readonly<Record<string, string>>; readonly known: string };
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const port = await freePort();
  const agentsFolder = join(options.folder, 'agents');
  await mkdir(agentsFolder, { recursive: true });
  for (const agent of options.agents) {
    const folder = join(agentsFolder, agentName(agent));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'agent.yaml'), agentFile(agent));
  }
  const dataDir = join(options.folder, 'data');
  const command = options.name.startsWith('ref:')
    ? [
        reference,
        '--store',
        options.name.slice('ref:'.length),
        '--data',
        options.folder,
        '--port',
        String(port),
      ]
    : [
        options.program ?? convoke,
        options.member === undefined || options.member.known === dataDir ? 'dev' : 'serve',
      ];
  const run = [
    process.execPath,
    '--expose-gc',
    '--disable-warning=ExperimentalWarning',
    '--import',
    probe,
    ...command,
  ] as const;
  // Several servers share the machine; a single one gets a core of its own.
  const [program, ...args] = options.member === undefined ? pinned(serverCore, run) : run;
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      // Warnings about this machine, such as those about the sandbox, would stand between the lines of progress.
      CONVOKE_LOG_LEVEL: 'error',
      ...process.env,
      CONVOKE_PORT: String(port),
      CONVOKE_DATA_DIR: dataDir,
      CONVOKE_AGENTS_DIR: agentsFolder,
      CONVOKE_API_RATE_PER_MINUTE: '0',
      // As `npm start` and `npx convoke` have it (packages/launch/src/launch.mjs).
      NODE_COMPILE_CACHE: join(root, '.cache/compiled'),
      ...options.settings,
      ...options.member?.settings,
    },
  });
  const server = new Server(child, { ...options, port });
  try {
    await server.ready();
  } catch (error) {
    await server.stop();
    throw error;
  }
  server.bootMs = performance.now() - startedAt;
  return server;
}

export class Server {
  bootMs = 0;
  readonly #child: ChildProcess;
  readonly #options: ServerOptions & { readonly port: number };
  readonly #baseUrl: string;
  readonly #asked = new Map<number, PromiseWithResolvers<Usage>>();
  #questions = 0;
  #token: { readonly headers: Readonly<Record<string, string>>; readonly at: number } | undefined;

  constructor(child: ChildProcess, options: ServerOptions & { readonly port: number }) {
    this.#child = child;
    this.#options = options;
    this.#baseUrl = `http://127.0.0.1:${options.port}`;
    child.on('message', ({ id, usage }: { id: number; usage: Usage }) => {
      this.#asked.get(id)?.resolve(usage);
      this.#asked.delete(id);
    });
    child.once('exit', () => {
      for (const { reject } of this.#asked.values()) reject(new Error(`${this.name} has ended`));
    });
  }

  get name(): TargetName {
    return this.#options.name;
  }

  async address(): Promise<Address> {
    return { baseUrl: this.#baseUrl, headers: await this.#headers() };
  }

  async ready(): Promise<void> {
    const until = performance.now() + readyWithinMs;
    while (performance.now() < until) {
      const { exitCode, signalCode } = this.#child;
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`${this.name} ended with ${exitCode ?? signalCode} before it was ready`);
      }
      const isReady = await fetch(`${this.#baseUrl}/readyz`).then(
        (response) => response.ok,
        () => false,
      );
      if (isReady) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`${this.name} was not ready after ${readyWithinMs / 1000} s`);
  }

  async usage(kind: 'usage' | 'collected'): Promise<Usage> {
    return this.#ask({ id: ++this.#questions, ask: kind });
  }

  async profile(): Promise<void> {
    await this.#ask({ id: ++this.#questions, ask: 'profile' });
  }

  async saveProfile(path: string): Promise<void> {
    await this.#ask({ id: ++this.#questions, ask: 'saveProfile', path });
  }

  /** Runs of the benchmark may sleep for minutes: their server is not asked to wait for them, unless it has none. */
  async stop(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #ask(question: Question): Promise<Usage> {
    const asked = Promise.withResolvers<Usage>();
    this.#asked.set(question.id, asked);
    this.#child.send(question, (error) => {
      if (error !== null) asked.reject(new Error(`${this.name} has ended`, { cause: error }));
    });
    return asked.promise;
  }

  async #headers(): Promise<Readonly<Record<string, string>>> {
    if (this.name.startsWith('ref:')) return {};
    if (this.#token !== undefined && Date.now() - this.#token.at < tokenLivesMs) {
      return this.#token.headers;
    }
    const folder = this.#options.member?.known ?? join(this.#options.folder, 'data');
    const file = join(folder, 'quickstart.json');
    const known = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
    const basic = Buffer.from(`${known['client_id']}:${known['client_secret']}`).toString('base64');
    const response = await fetch(`${this.#baseUrl}/v1/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    const headers = {
      authorization: `Bearer ${token}`,
      'x-organization-id': known['organization_id'] ?? '',
      'x-workspace-tenant-id': known['tenant_id'] ?? '',
    };
    this.#token = { headers, at: Date.now() };
    return headers;
  }
}
