import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  administer,
  createPostgresDatabase,
} from '../../packages/server/test/support/postgres-databases.ts';
import { removeFolder } from '../../test/remove-folder.ts';
import type { BenchAgent } from '../agents.ts';
import { Client } from '../client.ts';
import { type Server, startServer } from '../server.ts';

const natsUrl = process.env['CONVOKE_TEST_NATS_URL'] ?? 'nats://127.0.0.1:4222';

export interface ServiceOptions {
  /** What is started: Convoke, or the reference. */
  readonly name?: 'convoke' | 'ref:postgres';
  /** The program of another checkout, instead of this one's. */
  readonly program?: string;
  /** The role of each server: `['api', 'worker']` is two servers. */
  readonly roles: readonly ('api' | 'worker' | 'api,worker')[];
  readonly wakeups: 'postgres' | 'nats';
  readonly agents: readonly BenchAgent[];
}

/** Several servers on one PostgreSQL, all in this machine. */
export class Service {
  readonly databaseUrl: string;
  readonly #folder: string;
  readonly #servers: readonly Server[];

  private constructor(databaseUrl: string, folder: string, servers: readonly Server[]) {
    this.databaseUrl = databaseUrl;
    this.#folder = folder;
    this.#servers = servers;
  }

  static async start({
    name = 'convoke',
    program,
    roles,
    wakeups,
    agents,
  }: ServiceOptions): Promise<Service> {
    const folder = await mkdtemp(join(tmpdir(), 'convoke-bench-'));
    const databaseUrl = await createPostgresDatabase(
      `convoke_bench_${randomBytes(6).toString('hex')}`,
    );
    const keyFile = join(folder, 'shared.key');
    await writeFile(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    const shared = {
      CONVOKE_DATABASE_URL: databaseUrl,
      CONVOKE_MASTER_KEY_FILE: keyFile,
      CONVOKE_BASE_URL: 'http://convoke.test',
      CONVOKE_WAKEUPS: wakeups,
      ...(wakeups === 'nats' && { CONVOKE_NATS_URL: natsUrl }),
    };
    const known = join(folder, '0', 'data');
    const servers: Server[] = [];
    for (const [index, role] of roles.entries()) {
      servers.push(
        await startServer({
          name,
          folder: join(folder, String(index)),
          agents,
          ...(program !== undefined && { program }),
          member: { settings: { ...shared, CONVOKE_ROLE: role }, known },
        }),
      );
    }
    return new Service(databaseUrl, folder, servers);
  }

  /** The first server. */
  get server(): Server {
    const [first] = this.#servers;
    if (first === undefined) throw new Error('there is no server');
    return first;
  }

  /** One client per server, for those that answer requests. */
  async clients(connections: number, count = this.#servers.length): Promise<Client[]> {
    const answering = this.#servers.slice(0, count);
    return Promise.all(
      answering.map(async (server) => new Client(await server.address(), connections)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
    await removeFolder(this.#folder);
    await administer(`drop database ${new URL(this.databaseUrl).pathname.slice(1)} with (force)`);
  }
}
