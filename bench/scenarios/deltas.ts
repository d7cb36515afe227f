import { Client } from '../client.ts';
import { type Scenario, everyServer } from '../scenario.ts';
import { median } from '../statistics.ts';
import {
  followRun,
  openSessions,
  requireWhole,
  sideBySide,
  startRun,
  warmUp,
} from '../workload.ts';

const ms = { full: 3000, quick: 1500, smoke: 100 };

/** A run of 50 words, from the POST to the last event, for callers that each wait for their own run. */
export const deltasOne = deltas({ id: 'deltas-1', clients: 1, everyMs: 0, target: '' });
export const deltasMany = deltas({ id: 'deltas-32', clients: 32, everyMs: 0, target: '' });
/** One word per millisecond: each of them is a commit of its own, unless commits are shared. */
export const deltasPaced = deltas({ id: 'paced-32', clients: 32, everyMs: 1, target: '' });

function deltas({ id, clients, everyMs, target }: Variant): Scenario {
  const agent = { deltas: 50, everyMs };
  const pace = everyMs === 0 ? '' : `, one per ${everyMs} ms`;
  return {
    id,
    targets: everyServer,
    agents: () => [agent],
    rows: [
      {
        figure: 'p50',
        title: `run of 50 deltas${pace}, ${clients} client${clients === 1 ? '' : 's'}, p50`,
        unit: 'ms',
        better: 'less',
        target,
      },
    ],

    async slice({ address, scale }) {
      const client = new Client(address, clients);
      const sessions = await openSessions(client, agent, clients);
      await warmUp(client, sessions);
      const times: number[] = [];
      const firstEvents: number[] = [];
      await sideBySide({ clients, ms: ms[scale] }, async (index) => {
        const from = performance.now();
        const run = await startRun(client, sessions[index] ?? '');
        const followed = await followRun(client, run, { strict: true });
        times.push(performance.now() - from);
        firstEvents.push(followed.firstAt - from);
        requireWhole(followed, agent);
      });
      client.close();
      return { operations: times.length, p50: median(times), firstEvent: median(firstEvents) };
    },
  };
}

interface Variant {
  readonly id: string;
  readonly clients: number;
  readonly everyMs: number;
  readonly target: string;
}
