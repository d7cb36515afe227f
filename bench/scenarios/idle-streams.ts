import { Client } from '../client.ts';
import { type Scenario, everyServer } from '../scenario.ts';
import { openStreams } from '../streams.ts';
import { openSessions, startRun } from '../workload.ts';

const agent = { deltas: 1, waitMs: 600_000 };
/** The first ones compile code and fill caches, which is not part of the cost of a stream; the others are measured. */
const first = { full: 500, quick: 500, smoke: 10 };
const others = { full: 1000, quick: 1000, smoke: 10 };

/** Streams on a run that says nothing: what each further one keeps, garbage taken away before and after. */
export const idleStreams: Scenario = {
  id: 'idle-streams',
  targets: everyServer,
  fresh: true,
  agents: () => [agent],
  rows: [
    {
      figure: 'rss',
      title: 'memory per idle stream (501st to 1,500th), resident',
      unit: 'KB',
      better: 'less',
      target: '≤ 30 KB',
    },
    {
      figure: 'heap',
      title: '… live JavaScript and buffers',
      unit: 'KB',
      better: 'less',
      target: '',
    },
  ],

  async slice({ address, scale, usage }) {
    const count = others[scale];
    const client = new Client(address, first[scale] + count + 1);
    const [session = ''] = await openSessions(client, agent, 1);
    const { runId } = await startRun(client, session);
    const path = `/v1/sessions/${session}/runs/${runId}/events`;
    const closeFirst = await openStreams(client, first[scale], { path });
    const before = await usage('collected');
    const closeOthers = await openStreams(client, count, { path });
    const after = await usage('collected');
    await Promise.all([closeFirst(), closeOthers()]);
    client.close();
    const each = (bytes: number) => bytes / count / 1024;
    return {
      operations: count,
      rss: each(after.rssBytes - before.rssBytes),
      heap: each(after.heapBytes - before.heapBytes),
    };
  },
};
