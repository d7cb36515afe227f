import {
  createServerFolder,
  readQuickstart,
} from '../../server/test/faults/support/server-folder.ts';
import { ServerProcess } from '../../server/test/faults/support/server-process.ts';
import { writeAgents } from '../src/agents.ts';
import { runConformance } from '../src/conformance.ts';
import { readTask } from '../src/options.ts';
import type { RequirementResult } from '../src/results.ts';
import { Secrets } from '../src/secrets.ts';
import { type Deviation, startProxy } from './deviating-proxy.ts';

export type Results = ReadonlyMap<string, RequirementResult>;

export interface CheckedServer {
  /** Runs the checks of some requirements against our server behind a proxy that deviates. */
  resultsBehind(
    deviation: Deviation,
    ids: readonly string[],
    options?: readonly string[],
  ): Promise<Results>;
  close(): Promise<void>;
}

/** Our server in a process of its own, without limits of the rate. */
export async function startCheckedServer(): Promise<CheckedServer> {
  const folder = await createServerFolder({
    agents: {},
    settings: { CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0' },
  });
  await writeAgents(folder.agentsDir);
  const server = await ServerProcess.start(folder);
  const quickstart = readQuickstart(folder);
  const env = {
    CONVOKE_CLIENT_ID: quickstart.client_id,
    CONVOKE_CLIENT_SECRET: quickstart.client_secret,
    CONVOKE_OWNER_TOKEN: quickstart.owner_token,
  };
  const { organization_id: organization, tenant_id: tenant } = quickstart;
  const workspace = ['--organization-id', organization, '--tenant-id', tenant];
  return {
    async resultsBehind(deviation, ids, options = []) {
      const proxy = await startProxy(server.baseUrl, deviation);
      try {
        const args = ['--base-url', proxy.baseUrl, '--level', 'convoke', '--only', ids.join(',')];
        const restart = options.map((option) => option.replace('{base}', proxy.baseUrl));
        const task = readTask([...args, ...workspace, ...restart], env);
        if (task.kind !== 'run') throw new Error('expected options');
        const { requirements } = await runConformance(task.options, new Secrets());
        return new Map(requirements.map((each) => [each.requirement.id, each]));
      } finally {
        proxy.close();
      }
    },
    async close() {
      await server.kill();
      folder.remove();
    },
  };
}
