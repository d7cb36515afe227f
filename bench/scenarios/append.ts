import { eventsOf } from '../agents.ts';
import { Client } from '../client.ts';
import { type Scale, type Scenario, everyServer } from '../scenario.ts';
import { endOf, followRun, openSessions, requireWhole, startRun, warmUp } from '../workload.ts';

const runs = 32;
const agentAt = (scale: Scale) => ({ deltas: { full: 3000, quick: 1500, smoke: 50 }[scale] });
const warmAgent = { deltas: 1 };

/** Long parallel runs without readers: how many events a second become durable. */
export const append: Scenario = {
  id: 'append',
  targets: everyServer,
  agents: (scale) => [agentAt(scale), warmAgent],
  rows: [
    {
      figure: 'events',
      title: 'events appended by 32 long runs',
      unit: '/s',
      better: 'more',
      target: '≥ 20k/s, ≥ 0.8x',
    },
  ],

  async slice({ address, scale }) {
    const agent = agentAt(scale);
    const client = new Client(address, runs);
    await warmUp(client, await openSessions(client, warmAgent, 1));
    const sessions = await openSessions(client, agent, runs);
    const from = Date.now();
    const started = await Promise.all(sessions.map((session) => startRun(client, session)));
    const ends: number[] = [];
    for (const run of started) ends.push(await endOf(client, run));
    const [first] = started;
    if (first !== undefined) {
      requireWhole(await followRun(client, first, { strict: true }), agent);
    }
    client.close();
    const events = runs * eventsOf(agent);
    return { operations: events, events: events / ((Math.max(...ends) - from) / 1000) };
  },
};
