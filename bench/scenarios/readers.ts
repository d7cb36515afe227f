import { type BenchAgent, eventsOf } from '../agents.ts';
import { Client } from '../client.ts';
import { type Scale, type Scenario, everyServer } from '../scenario.ts';
import { followRun, openSessions, requireWhole, startRun } from '../workload.ts';

/** All readers must be there before the run speaks; opening 500 takes a good second, on a busy machine more. */
const waitMs = (readers: number) => 1000 + readers * 7;

/** A commit releases many events: what matters is how little is done per reader. */
export const readersFifty = readers({ count: 50, everyMs: 0, events: 8000, target: '≥ 200k/s' });
export const readersMany = readers({ count: 500, everyMs: 0, events: 2000, target: '≥ 200k/s' });
/** An event at a time: each costs each reader a write. */
export const pacedFifty = readers({ count: 50, everyMs: 1, events: 1000, target: '≥ 0.7x' });
export const pacedMany = readers({ count: 500, everyMs: 1, events: 200, target: '≥ 0.7x' });

function readers({ count, everyMs, events, target }: Variant): Scenario {
  const kind = everyMs === 0 ? 'as fast as they come' : 'one at a time';
  const agentAt = (scale: Scale): BenchAgent => ({
    deltas: scale === 'smoke' ? 20 : scale === 'quick' ? events / 2 : events,
    everyMs,
    waitMs: scale === 'smoke' ? 300 : waitMs(count),
  });
  return {
    id: `readers-${count}${everyMs === 0 ? '' : '-paced'}`,
    targets: everyServer,
    agents: (scale) => [agentAt(scale)],
    rows: [
      {
        figure: 'delivered',
        title: `events to ${count} readers of one run, ${kind}`,
        unit: '/s',
        better: 'more',
        target,
      },
      {
        figure: 'openUs',
        title: '… processor time to open a stream',
        unit: 'µs',
        better: 'less',
        target: '',
      },
    ],

    async slice({ address, scale, usage }) {
      const agent = agentAt(scale);
      const number = scale === 'smoke' ? 10 : count;
      const client = new Client(address, number + 1);
      const [session = ''] = await openSessions(client, agent, 1);
      const run = await startRun(client, session);
      const from = performance.now();
      const before = await usage('usage');
      const opening = Array.from({ length: number }, () => Promise.withResolvers<void>());
      const following = Promise.all(
        opening.map(({ resolve }, index) =>
          followRun(client, run, { strict: index === 0, onOpen: resolve }),
        ),
      );
      await Promise.race([Promise.all(opening.map(({ promise }) => promise)), following]);
      // What opening costs is not part of what an event costs.
      const opened = await usage('usage');
      const openedAt = performance.now();
      const followed = await following;
      const after = await usage('usage');
      client.close();
      for (const reader of followed) requireWhole(reader, agent);
      const spokeAt = from + (agent.waitMs ?? 0);
      if (scale !== 'smoke' && openedAt > spokeAt) {
        throw new Error('the run spoke before every reader was there');
      }
      const seconds = (Math.max(...followed.map((reader) => reader.lastAt)) - spokeAt) / 1000;
      const delivered = number * eventsOf(agent);
      return {
        operations: delivered,
        delivered: delivered / seconds,
        cpuUs: (after.cpuUs - opened.cpuUs) / delivered,
        openUs: (opened.cpuUs - before.cpuUs) / number,
      };
    },
  };
}

interface Variant {
  readonly count: number;
  readonly everyMs: number;
  readonly events: number;
  readonly target: string;
}
