import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startS3 } from '../../support/s3-server.ts';
import { Ledger } from './ledger.ts';
import { NatsServer } from './nats-server.ts';
import { PostgresServer } from './postgres-server.ts';
import { freePort } from '../../../../../test/free-port.ts';
import { type ServerFolder, createServerFolder } from './server-folder.ts';
import { ServerProcess } from './server-process.ts';
import { agents } from './simulated-users.ts';
import { TcpProxy } from './tcp-proxy.ts';

const steppingClock = fileURLToPath(new URL('step-wall-clock.ts', import.meta.url));

/**
 * Short, so that a test need not wait long for a lease to expire; long enough that a database which restarts beside
 * other tests is back before a server gives up its leases.
 */
export const leaseSeconds = 10;

/** Fewer than there are sessions, so that runs have to wait for each other. */
export const tenantShare = 8;

/** One server of the service: its own folder and port, and its own way to everything it shares with the others. */
export class Replica {
  readonly folder: ServerFolder;
  readonly toDatabase: TcpProxy;
  process: ServerProcess;
  /** Of its next start, instead of those of the folder. */
  settings: Readonly<Record<string, string>> = {};

  private constructor(folder: ServerFolder, toDatabase: TcpProxy, process: ServerProcess) {
    this.folder = folder;
    this.toDatabase = toDatabase;
    this.process = process;
  }

  static async start(folder: ServerFolder, toDatabase: TcpProxy, isFirst: boolean) {
    const command = isFirst ? 'dev' : 'serve';
    const process = await ServerProcess.start(folder, { command, imports: [steppingClock] });
    return new Replica(folder, toDatabase, process);
  }

  get baseUrl(): string {
    return this.process.baseUrl;
  }

  /** Starts a new process in the folder of one that has ended. */
  async startAgain(): Promise<void> {
    this.process = await ServerProcess.start(this.folder, {
      command: 'serve',
      imports: [steppingClock],
      settings: this.settings,
    });
  }
}

/** Three real servers, a PostgreSQL, an S3 and a NATS of their own, and the proxies between them. */
export class Cluster {
  readonly replicas: readonly Replica[];
  readonly database: PostgresServer;
  readonly nats: NatsServer;
  readonly ledger: Ledger;
  /** How its servers wake each other; those that start from now on. */
  #wakeups: 'postgres' | 'nats' = 'postgres';

  private constructor(parts: Pick<Cluster, 'replicas' | 'database' | 'nats' | 'ledger'>) {
    this.replicas = parts.replicas;
    this.database = parts.database;
    this.nats = parts.nats;
    this.ledger = parts.ledger;
  }

  get wakeups(): 'postgres' | 'nats' {
    return this.#wakeups;
  }

  /** Servers that start from now on wake the others by NATS. */
  wakeByNats(): void {
    this.#wakeups = 'nats';
    const settings = { CONVOKE_WAKEUPS: 'nats', CONVOKE_NATS_URL: this.nats.url };
    for (const replica of this.replicas) replica.settings = settings;
  }

  static async open(): Promise<Cluster> {
    const [database, nats, first] = await Promise.all([
      PostgresServer.open(),
      NatsServer.open(),
      createServerFolder({ agents }),
    ]);
    const root = dirname(first.agentsDir);
    const ledger = await Ledger.open();
    writePayingAgent(first.agentsDir, ledger);
    const keyFile = join(root, 'shared.key');
    writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    const s3 = await startS3();
    await s3.makeBucket('convoke');
    const shared = {
      ...first.settings,
      // Tokens name the address that clients use: the load balancer's, the same for all.
      CONVOKE_BASE_URL: 'http://convoke.test',
      CONVOKE_MASTER_KEY_FILE: keyFile,
      CONVOKE_LEASE_SECONDS: String(leaseSeconds),
      CONVOKE_TENANT_RUN_CONCURRENCY: String(tenantShare),
      CONVOKE_LOG_LEVEL: 'info',
      ...s3.env('convoke'),
    };
    const replicas: Replica[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { hostname: host, port } = new URL(database.url);
      const toDatabase = await TcpProxy.open({ host, port: Number(port) });
      const url = new URL(database.url);
      url.port = String(toDatabase.port);
      const folder: ServerFolder = {
        ...first,
        dataDir: join(root, `data-${name}`),
        port: replicas.length === 0 ? first.port : await freePort(),
        settings: { ...shared, CONVOKE_DATABASE_URL: url.href },
      };
      replicas.push(await Replica.start(folder, toDatabase, replicas.length === 0));
    }
    return new Cluster({ replicas, database, nats, ledger });
  }

  async close(): Promise<void> {
    await Promise.all(
      this.replicas.map(async ({ process, toDatabase }) => {
        process.signal('SIGCONT');
        await process.kill();
        await toDatabase.close();
      }),
    );
    await this.nats.stop();
    await this.ledger.close();
    this.database.remove();
    this.replicas[0]?.folder.remove();
  }
}

/** An agent whose one tool has an effect that cannot be undone and that only the ledger sees. */
function writePayingAgent(agentsDir: string, ledger: Ledger): void {
  const folder = join(agentsDir, 'payer');
  mkdirSync(folder);
  const described = {
    schema: 1,
    name: 'payer',
    description: 'Pays once it may',
    framework: 'stdio',
    command: ['./pay.sh'],
    approval_required_tools: ['pay'],
    sandbox: { network: [`127.0.0.1:${ledger.port}`] },
  };
  writeFileSync(join(folder, 'agent.yaml'), JSON.stringify(described));
  const program = `#!/bin/bash
read -r start
run=$(sed 's/.*"run_id":"\\([^"]*\\)".*/\\1/' <<< "$start")
pay() {
  exec 3<> /dev/tcp/127.0.0.1/3128
  printf 'POST http://127.0.0.1:${ledger.port}/%s HTTP/1.0\\r\\nhost: ledger\\r\\ncontent-length: 0\\r\\n\\r\\n' "$run" >&3
  read -r _ status _ <&3 && [ "$status" = 200 ]
}
case "$start" in
  *'"kind":"prompt"'*) echo '{"type":"permission_request","ref":"pay","tool_name":"pay","tool_input":{}}' ;;
  *'"allow":true'*) pay && echo '{"type":"message_delta","text":"Paid."}' ;;
  *) echo '{"type":"message_delta","text":"Not paid."}' ;;
esac
`;
  writeFileSync(join(folder, 'pay.sh'), program);
  chmodSync(join(folder, 'pay.sh'), 0o755);
}
