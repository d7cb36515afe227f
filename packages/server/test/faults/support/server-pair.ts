import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../../../../test/free-port.ts';
import { atFileEnd } from '../../../../../test/runner/file-end.ts';
import { createDatabase } from '../../support/postgres-databases.ts';
import { Caller } from './caller.ts';
import {
  type Quickstart,
  type ServerFolder,
  type ServerFolderOptions,
  createServerFolder,
  readQuickstart,
} from './server-folder.ts';
import { ServerProcess } from './server-process.ts';

/** Two servers on one database; clients reach the one that is alive. */
export class ServerPair {
  readonly quickstart: Quickstart;
  readonly databaseUrl: string;
  readonly #folders: readonly ServerFolder[];
  #servers: ServerProcess[];
  #current = 0;

  private constructor(
    folders: readonly [ServerFolder, ServerFolder],
    servers: ServerProcess[],
    databaseUrl: string,
  ) {
    this.databaseUrl = databaseUrl;
    this.#folders = folders;
    this.#servers = servers;
    this.quickstart = readQuickstart(folders[0]);
  }

  static async open(
    agents: ServerFolderOptions['agents'],
    more: Readonly<Record<string, string>> = {},
  ): Promise<ServerPair> {
    const database = await createDatabase();
    atFileEnd(() => database.drop());
    const settings = {
      CONVOKE_BASE_URL: 'http://convoke.test',
      CONVOKE_DATABASE_URL: database.url,
      CONVOKE_LEASE_SECONDS: '5',
      ...more,
    };
    const first = await createServerFolder({ agents, settings });
    atFileEnd(() => first.remove());
    const root = dirname(first.agentsDir);
    const keyFile = join(root, 'shared.key');
    writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    const folderOf = (name: string, port: number): ServerFolder => ({
      ...first,
      dataDir: join(root, name),
      port,
      settings: { ...first.settings, CONVOKE_MASTER_KEY_FILE: keyFile },
    });
    const folders = [folderOf('a', first.port), folderOf('b', await freePort())] as const;
    const servers = [await ServerProcess.start(folders[0])];
    const pair = new ServerPair(folders, servers, database.url);
    atFileEnd(() => pair.#close());
    servers.push(await ServerProcess.start(folders[1], { command: 'serve' }));
    return pair;
  }

  get baseUrl(): string {
    return this.#servers[this.#current]?.baseUrl ?? '';
  }

  /** The MCP address of the tenant, without its server. */
  get mcpPath(): string {
    const { organization_id, tenant_id } = this.quickstart;
    return `/v1/mcp/${organization_id}/${tenant_id}`;
  }

  /** A backend whose requests go to the server that is alive. */
  caller(): Promise<Caller> {
    const [first] = this.#folders;
    if (first === undefined) throw new Error('a pair has two servers');
    return Caller.open(first, { baseUrl: () => this.baseUrl });
  }

  /** Requests go to the other server from now on. */
  async killCurrent(): Promise<void> {
    const killed = this.#servers[this.#current];
    this.#current = 1 - this.#current;
    await killed?.kill();
  }

  async bothAlive(): Promise<void> {
    for (const [index, folder] of this.#folders.entries()) {
      if (this.#servers[index]?.isRunning === true) continue;
      this.#servers[index] = await ServerProcess.start(folder, { command: 'serve' });
    }
  }

  async #close(): Promise<void> {
    for (const server of this.#servers) await server.kill();
  }
}
