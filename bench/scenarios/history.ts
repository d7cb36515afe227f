import { Client } from '../client.ts';
import type { Scenario } from '../scenario.ts';
import { median } from '../statistics.ts';
import {
  followRun,
  openSessions,
  requireWhole,
  sideBySide,
  startRun,
  warmUp,
} from '../workload.ts';

const agent = { deltas: 50 };
const ms = { full: 3000, quick: 1500, smoke: 100 };

/** Start, append and follow beside next to no history, and beside a million stored events. */
export const history: Scenario = {
  id: 'history',
  targets: ['convoke', 'convoke, old'],
  agents: () => [agent],
  rows: [
    {
      figure: 'one',
      title: 'start + 50 events + follow, 1 client, p50',
      unit: 'ms',
      better: 'less',
      target: 'the same',
    },
    {
      figure: 'many',
      title: '… 32 clients, runs per second',
      unit: '/s',
      better: 'more',
      target: 'the same',
    },
  ],

  async slice({ address, scale }) {
    const client = new Client(address, 32);
    const sessions = await openSessions(client, agent, 32);
    await warmUp(client, sessions);
    const times: number[] = [];
    const once = async (index: number) => {
      const from = performance.now();
      const followed = await followRun(client, await startRun(client, sessions[index] ?? ''));
      times.push(performance.now() - from);
      requireWhole(followed, agent);
    };
    await sideBySide({ clients: 1, ms: ms[scale] }, once);
    const one = median(times);
    const before = times.length;
    const from = performance.now();
    await sideBySide({ clients: 32, ms: ms[scale] }, once);
    const seconds = (performance.now() - from) / 1000;
    client.close();
    return { operations: times.length, one, many: (times.length - before) / seconds };
  },
};
