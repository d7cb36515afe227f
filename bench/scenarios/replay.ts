import { eventsOf } from '../agents.ts';
import { Client } from '../client.ts';
import { type Scale, type Scenario, everyServer } from '../scenario.ts';
import { endOf, followRun, openSessions, requireWhole, sideBySide, startRun } from '../workload.ts';

const agentAt = (scale: Scale) => ({ deltas: scale === 'smoke' ? 300 : 9998 });
const ms = { full: 2000, quick: 1000, smoke: 50 };

/** A finished run of 10,000 events, read again from its first event on, over and over. */
export const replay: Scenario = {
  id: 'replay',
  targets: everyServer,
  agents: (scale) => [agentAt(scale)],
  rows: [
    {
      figure: 'events',
      title: 'replay of a finished 10,000-event run',
      unit: '/s',
      better: 'more',
      target: '≥ 150k/s',
    },
  ],

  async slice({ address, scale }) {
    const agent = agentAt(scale);
    const client = new Client(address, 1);
    const [session = ''] = await openSessions(client, agent, 1);
    const run = await startRun(client, session);
    await endOf(client, run);
    requireWhole(await followRun(client, run, { strict: true }), agent);
    let events = 0;
    const from = performance.now();
    await sideBySide({ clients: 1, ms: ms[scale] }, async () => {
      requireWhole(await followRun(client, run), agent);
      events += eventsOf(agent);
    });
    const seconds = (performance.now() - from) / 1000;
    client.close();
    return { operations: events, events: events / seconds };
  },
};
