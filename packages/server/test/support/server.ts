import { mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Method, type Operation, operations } from '@convoke/contract';
import { freePort } from '../../../../test/free-port.ts';
import { natsUrl } from '../../../../test/nats-service.ts';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { type Convoke, compose } from '../../src/compose/compose.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import type { AnswerCaps } from '../../src/http/answers/answers-under-way.ts';
import type { StreamCaps } from '../../src/http/streams/admitted-streams.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { CredentialProvider } from '../../src/ports/credential-provider.ts';
import type { Harness } from '../../src/ports/harness.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Store } from '../../src/ports/store.ts';
import type { Quickstart } from '../../src/quickstart.ts';
import { type AgentYaml, usualAgents } from './agents.ts';
import {
  type CallOptions,
  CheckedCalls,
  type Identity,
  anonymous,
  operationAt,
} from './checked-calls.ts';
import { observe } from './coverage/journal.ts';
import { type DatabaseKind, createMigratedLocation, databaseKinds, isQuick } from './databases.ts';
import { EventReader } from './event-reader.ts';
import { copyMigratedSqlite } from './migrated-databases.ts';
import { testConnections } from './postgres-databases.ts';

export interface ServerOptions {
  readonly database?: Deployment;
  readonly env?: Readonly<Record<string, string>>;
  /** By name; the usual ones when absent. */
  readonly agents?: Readonly<Record<string, AgentYaml | string>>;
  /** More files below the agents folder, by path. */
  readonly agentFiles?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly harnesses?: readonly Harness[];
  readonly wrapStore?: (store: Store) => Store;
  /** Gets what the server logs, in place of the list of its errors. */
  readonly log?: Log;
  readonly provider?: CredentialProvider;
  readonly streamCaps?: StreamCaps;
  readonly answerCaps?: AnswerCaps;
  readonly clientTokenSeconds?: number;
  readonly consoleFolder?: string;
  /** The test makes the server fail, so what the server logs as an error is expected. */
  readonly expectsFaults?: boolean;
}

/** What a server keeps for the next start: settings and folders. */
interface Place {
  readonly env: Readonly<Record<string, string>>;
  readonly config: Config;
}

/** The real server, put together in this process and listening on a port of its own. */
export class TestServer extends CheckedCalls {
  readonly convoke: Convoke;
  readonly config: Config;
  readonly quickstart: Quickstart;
  /** Errors that the server logged. */
  readonly errors: readonly LoggedError[];
  readonly #options: ServerOptions;
  readonly #place: Place;
  #isStopped = false;

  constructor(parts: ServerParts) {
    super(parts.place.config.baseUrl, (operation) => usualIdentity(operation, parts.callers));
    this.convoke = parts.convoke;
    this.config = parts.place.config;
    this.quickstart = parts.quickstart;
    this.errors = parts.errors;
    this.#options = parts.options;
    this.#place = parts.place;
    this.client = parts.callers.client;
    this.owner = parts.callers.owner;
  }

  /** The first automation client, in the first tenant. */
  readonly client: Identity;
  /** The owner of the first organization. */
  readonly owner: Identity;

  get baseUrl(): string {
    return this.config.baseUrl;
  }

  /** Opens an event stream; the answer's head is checked, its frames are the caller's to read. */
  async stream(
    path: string,
    options: CallOptions & { method?: Method } = {},
  ): Promise<EventReader> {
    const { method = 'GET', headers, ...rest } = options;
    const stop = new AbortController();
    atFileEnd(() => stop.abort());
    const accept = { accept: 'text/event-stream', ...headers };
    const response = await this.fetch(method, path, {
      ...rest,
      headers: accept,
      signal: stop.signal,
    });
    if (response.status !== 200) {
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    }
    const operation = operationAt(method, path);
    if (operation !== undefined) {
      observe({ operation: operation.id, status: 200, code: undefined });
    }
    return new EventReader(response, stop);
  }

  /** Writes an agent's folder while the server runs, as an operator would. */
  async writeAgent(name: string, agent: AgentYaml | string): Promise<void> {
    await writeAgents(this.config.agentsDir, { [name]: agent });
  }

  async removeAgent(name: string): Promise<void> {
    await removeFolder(join(this.config.agentsDir, name));
  }

  /** Stops, and starts another server on the same data folder, database and port; `env` is added. */
  async restart(options: ServerOptions = {}): Promise<TestServer> {
    await this.stop();
    const env = { ...this.#place.env, ...options.env };
    return startOn({ env, config: readConfig(env) }, { ...this.#options, ...options });
  }

  /** Running legs get `graceMs` to end on their own. */
  async stop(graceMs = 0): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.convoke.stop(graceMs);
    const [fault] = this.#options.expectsFaults === true ? [] : this.errors;
    if (fault !== undefined) {
      throw new Error(`the server logged: ${fault.message}`, { cause: fault.error });
    }
  }
}

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-server-'));
  atFileEnd(() => removeFolder(folder));
  const { database = 'sqlite', agents = usualAgents, agentFiles = {} } = options;
  const env = {
    CONVOKE_PORT: String(await freePort()),
    CONVOKE_DATA_DIR: join(folder, 'data'),
    CONVOKE_AGENTS_DIR: join(folder, 'agents'),
    CONVOKE_API_RATE_PER_MINUTE: '0',
    CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0',
    ...(await enginesOf(database)),
    ...options.env,
  };
  const config = readConfig(env);
  if (config.databaseUrl === undefined) {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    await copyMigratedSqlite(join(config.dataDir, 'convoke.db'));
  }
  await mkdir(config.agentsDir, { recursive: true });
  await writeFiles(config.agentsDir, agentFiles);
  await writeAgents(config.agentsDir, agents);
  return startOn({ env, config }, options);
}

export type Deployment = DatabaseKind | 'postgres and nats';

/** The engines a server runs on. PostgreSQL without NATS wakes by LISTEN/NOTIFY. */
export const deployments: readonly Deployment[] = isQuick
  ? databaseKinds
  : [...databaseKinds, 'postgres and nats'];

async function enginesOf(deployment: Deployment): Promise<Record<string, string>> {
  if (deployment === 'sqlite') return {};
  const CONVOKE_DATABASE_URL = await createMigratedLocation('postgres');
  const postgres = { CONVOKE_DATABASE_URL, CONVOKE_DATABASE_CONNECTIONS: testConnections };
  if (deployment === 'postgres') return postgres;
  return { ...postgres, CONVOKE_WAKEUPS: 'nats', CONVOKE_NATS_URL: natsUrl() };
}

interface Callers {
  readonly client: Identity;
  readonly owner: Identity;
}

interface ServerParts {
  readonly convoke: Convoke;
  readonly quickstart: Quickstart;
  readonly callers: Callers;
  readonly errors: readonly LoggedError[];
  readonly options: ServerOptions;
  readonly place: Place;
}

async function startOn(place: Place, options: ServerOptions): Promise<TestServer> {
  const { config } = place;
  const errors: LoggedError[] = [];
  const { clock, harnesses, wrapStore, provider, streamCaps, answerCaps } = options;
  const { clientTokenSeconds, consoleFolder } = options;
  const convoke = await compose(config, {
    log: options.log ?? collectingLog(errors),
    ...(clock === undefined ? {} : { clock }),
    ...(harnesses === undefined ? {} : { harnesses }),
    ...(wrapStore === undefined ? {} : { wrapStore }),
    ...(provider === undefined ? {} : { provider }),
    ...(streamCaps === undefined ? {} : { streamCaps }),
    ...(answerCaps === undefined ? {} : { answerCaps }),
    ...(clientTokenSeconds === undefined ? {} : { clientTokenSeconds }),
    ...(consoleFolder === undefined ? {} : { consoleFolder }),
  });
  await convoke.app.listen({ host: config.host, port: config.port });
  const quickstart = await convoke.quickstart();
  await convoke.start();
  const callers = {
    client: selecting(quickstart, await requestToken(config.baseUrl, quickstart)),
    owner: bearer(quickstart.owner_token),
  };
  const server = new TestServer({ convoke, quickstart, callers, errors, options, place });
  atFileEnd(() => server.stop());
  return server;
}

export function bearer(token: string): Identity {
  return { authorization: `Bearer ${token}` };
}

export interface Selection {
  readonly organization_id: string;
  readonly tenant_id: string;
}

/** A token with the headers that select an organization and a tenant. */
export function selecting({ organization_id, tenant_id }: Selection, token: string): Identity {
  return {
    ...bearer(token),
    'x-organization-id': organization_id,
    'x-workspace-tenant-id': tenant_id,
  };
}

export interface ClientSecret {
  readonly client_id: string;
  readonly client_secret: string;
}

/** Exchanges a client's secret for a token, as a backend does (D-50). */
export async function requestToken(baseUrl: string, secret: ClientSecret): Promise<string> {
  const { client_id, client_secret } = secret;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id,
    client_secret,
  });
  const response = await fetch(baseUrl + operations.issue_token.path, {
    method: 'POST',
    body: form,
  });
  if (response.status !== 200) throw new Error(`no token: ${await response.text()}`);
  const { access_token } = operations.issue_token.responses[200].schema.parse(
    await response.json(),
  );
  return access_token;
}

function usualIdentity(operation: Operation, { client, owner }: Callers): Identity {
  switch (operation.caller) {
    case 'automation':
    case 'any':
      return client;
    case 'human':
      return owner;
    case 'anonymous':
      return anonymous;
    default:
      return operation.caller satisfies never;
  }
}

async function writeAgents(
  folder: string,
  agents: Readonly<Record<string, AgentYaml | string>>,
): Promise<void> {
  for (const [name, agent] of Object.entries(agents)) {
    // JSON is YAML; what a test wants to break it writes as text.
    const text =
      typeof agent === 'string' ? agent : JSON.stringify({ framework: 'scripted', ...agent });
    await writeFiles(folder, { [`${name}/agent.yaml`]: text });
  }
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // Renamed into place, as editors do, so that no reader sees half a file.
    const draft = join(folder, `.${path.replaceAll('/', '-')}.draft`);
    await writeFile(draft, text);
    await rename(draft, join(folder, path));
  }
}

export interface LoggedError {
  readonly message: string;
  readonly error: unknown;
}

function collectingLog(errors: LoggedError[]): Log {
  return {
    info: () => {},
    warn: () => {},
    error: (message, error) => errors.push({ message, error }),
  };
}
