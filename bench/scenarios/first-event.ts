import { Client } from '../client.ts';
import { type Scenario, everyServer } from '../scenario.ts';
import { quantile } from '../statistics.ts';
import {
  followRun,
  openSessions,
  requireWhole,
  sideBySide,
  startRun,
  warmUp,
} from '../workload.ts';

const agent = { deltas: 1 };
const ms = { full: 3000, quick: 1500, smoke: 100 };

/** The time from a caller's POST to the first event it receives: two requests. */
export const firstEvent: Scenario = {
  id: 'first-event',
  targets: everyServer,
  agents: () => [agent],
  rows: [
    {
      figure: 'p50',
      title: 'first event after POST, 1 client, p50',
      unit: 'ms',
      better: 'less',
      target: '≤ 1.25x',
    },
    { figure: 'p99', title: '… p99', unit: 'ms', better: 'less', target: '≤ 1.25x' },
  ],

  async slice({ address, scale }) {
    const client = new Client(address, 1);
    const [session = ''] = await openSessions(client, agent, 1);
    await warmUp(client, [session]);
    const times: number[] = [];
    await sideBySide({ clients: 1, ms: ms[scale] }, async () => {
      const from = performance.now();
      const followed = await followRun(client, await startRun(client, session), { strict: true });
      requireWhole(followed, agent);
      times.push(followed.firstAt - from);
    });
    client.close();
    return { operations: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  },
};
