import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { freePort } from '../../../../../test/free-port.ts';
import { removeFolderSync } from '../../../../../test/remove-folder.ts';
import { testConnections } from '../../support/postgres-databases.ts';

/** Everything a server keeps across its starts: folder, agents, port and database. */
export interface ServerFolder {
  readonly dataDir: string;
  readonly agentsDir: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  remove(): void;
}

export interface ServerFolderOptions {
  readonly agents: Readonly<Record<string, AgentFolder>>;
  readonly settings?: Readonly<Record<string, string>>;
  /** A folder of the test's own; without it, a fresh one. */
  readonly dataDir?: string;
}

/** The fields of `agent.yaml` beside the name and the framework. */
export interface AgentFolder {
  readonly script?: readonly object[];
  readonly [key: string]: unknown;
}

export async function createServerFolder(options: ServerFolderOptions): Promise<ServerFolder> {
  const root = mkdtempSync(join(tmpdir(), 'convoke-fault-'));
  const agentsDir = join(root, 'agents');
  for (const [name, agent] of Object.entries(options.agents)) {
    mkdirSync(join(agentsDir, name), { recursive: true });
    const described = { schema: 1, name, description: name, framework: 'scripted', ...agent };
    // Every JSON document is a YAML document.
    writeFileSync(join(agentsDir, name, 'agent.yaml'), JSON.stringify(described));
  }
  const port = await freePort();
  return {
    dataDir: options.dataDir ?? join(root, 'data'),
    agentsDir,
    port,
    settings: {
      CONVOKE_API_RATE_PER_MINUTE: '0',
      CONVOKE_DATABASE_CONNECTIONS: testConnections,
      ...options.settings,
    },
    remove: () => removeFolderSync(root),
  };
}

const quickstart = z.object({
  base_url: z.string(),
  organization_id: z.string(),
  tenant_id: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
  owner_token: z.string(),
});

export type Quickstart = z.infer<typeof quickstart>;

export function readQuickstart({ dataDir }: ServerFolder): Quickstart {
  return quickstart.parse(JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')));
}
