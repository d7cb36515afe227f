import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createServerFolder,
  readQuickstart,
} from '../../server/test/faults/support/server-folder.ts';
import { ServerProcess } from '../../server/test/faults/support/server-process.ts';
import { type DatabaseKind, createLocation } from '../../server/test/support/databases.ts';
import { writeAgents } from '../src/agents.ts';

export interface RestartableServer {
  /** Options of the kit for this server, its owner and a restart with SIGKILL. */
  readonly options: readonly string[];
  /** Secrets are given in the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What may appear in no report. */
  readonly secrets: readonly string[];
  /** How a client of its first tenant calls it. */
  readonly client: Readonly<Record<'baseUrl' | 'clientId' | 'clientSecret', string>>;
  close(): Promise<void>;
}

/** A planted bug is noticed at any rate, and with the default one each would take minutes. */
const isPlanted = process.env['CONVOKE_TEST_PLANTED'] === '1';
const plantedRate = isPlanted ? 400 : undefined;

interface RestartableOptions {
  /** Writes the agents; without it, those that the kit writes. */
  readonly write?: (directory: string) => Promise<void>;
  /** The rate of management changes; without it, the default one. */
  readonly changesPerMinute?: number | undefined;
}

/** Convoke in a process of its own, with the agents of the kit and a command that kills and starts it. */
export async function startRestartable(
  kind: DatabaseKind,
  { write = writeAgents, changesPerMinute = plantedRate }: RestartableOptions = {},
): Promise<RestartableServer> {
  const database = kind === 'sqlite' ? {} : { CONVOKE_DATABASE_URL: await createLocation(kind) };
  const rate =
    changesPerMinute === undefined
      ? {}
      : { CONVOKE_MANAGEMENT_RATE_PER_MINUTE: String(changesPerMinute) };
  // The limits are the default ones, as in a service that somebody checks (D-488); a restart need not wait for a long
  // lease.
  const settings = { ...database, ...rate, CONVOKE_LEASE_SECONDS: '5' };
  const folder = await createServerFolder({ agents: {}, settings });
  await write(folder.agentsDir);
  let server = await ServerProcess.start(folder);
  const control = createServer((_, response) => {
    void (async () => {
      await server.kill();
      server = await ServerProcess.start(folder);
      response.end();
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(control, 'listening');
  const { port } = control.address() as AddressInfo;
  const { base_url, client_id, client_secret, owner_token } = readQuickstart(folder);
  const restart = `${process.execPath} -e "fetch('http://127.0.0.1:${port}/').then((r) => r.text())"`;
  return {
    options: ['--base-url', base_url, '--client-id', client_id, '--restart', restart],
    env: { CONVOKE_CLIENT_SECRET: client_secret, CONVOKE_OWNER_TOKEN: owner_token },
    secrets: [client_secret, owner_token],
    client: { baseUrl: base_url, clientId: client_id, clientSecret: client_secret },
    async close() {
      control.close();
      await server.kill();
      folder.remove();
    },
  };
}
