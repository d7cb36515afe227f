import type { BenchAgent } from '../agents.ts';
import { Client } from '../client.ts';
import type { Scenario } from '../scenario.ts';
import { median } from '../statistics.ts';
import { followRun, openSessions, requireWhole, startRun, warmUp } from '../workload.ts';

const plain: BenchAgent = { deltas: 1 };
const connected: BenchAgent = { ...plain, service: 'crm' };
const runs = { full: 1000, quick: 500, smoke: 2 };

/** The time to the first event of a run that uses an account of the tenant, beside that of one that uses none. */
export const accounts: Scenario = {
  id: 'accounts',
  targets: ['convoke'],
  agents: () => [plain, connected],
  rows: [
    {
      figure: 'first',
      title: 'first event after POST with one account of the tenant over without, p50',
      unit: 'x',
      better: 'less',
      target: '≤ 1.15x',
    },
  ],

  async slice({ address, scale }) {
    const client = new Client(address, 1);
    const auth = { type: 'bearer', token: 'a-token-of-the-benchmark' };
    const { status } = await client.put('/v1/connections/crm', { auth });
    if (status !== 200 && status !== 201) throw new Error(`the account: ${status}`);
    const kinds = [];
    for (const agent of [plain, connected]) {
      const [session = ''] = await openSessions(client, agent, 1);
      await warmUp(client, [session]);
      kinds.push({ agent, session, times: [] as number[] });
    }
    // In turn, so that whatever else the machine does meets both.
    for (let run = 0; run < runs[scale]; run += 1) {
      for (const { agent, session, times } of kinds) {
        const from = performance.now();
        const followed = await followRun(client, await startRun(client, session), { strict: true });
        requireWhole(followed, agent);
        times.push(followed.firstAt - from);
      }
    }
    client.close();
    const [without = 0, within = 0] = kinds.map(({ times }) => median(times));
    return { operations: runs[scale] * 2, first: within / without };
  },
};
