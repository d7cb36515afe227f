import { Client } from '../client.ts';
import { type Scenario, everyServer } from '../scenario.ts';
import { type StartedRun, endOf, openSessions, sideBySide, startRun, warmUp } from '../workload.ts';

const agent = { deltas: 1 };
const connections = 32;
const sessionsPerConnection = 4;
const ms = { full: 3000, quick: 1500, smoke: 150 };

/** How many runs one process takes in, and gets done, while 32 callers ask for them without a pause. */
export const starts: Scenario = {
  id: 'starts',
  targets: everyServer,
  agents: () => [agent],
  rows: [
    {
      figure: 'starts',
      title: 'durable run starts, 32 connections',
      unit: '/s',
      better: 'more',
      target: '≥ 0.6x',
    },
    {
      figure: 'done',
      title: '… and executed to their end',
      unit: '/s',
      better: 'more',
      target: '',
    },
    {
      figure: 'statements',
      title: '… statements per run',
      unit: '',
      better: 'less',
      target: '',
    },
  ],

  async slice({ address, scale, usage }) {
    const client = new Client(address, connections);
    const sessions = await openSessions(client, agent, connections * sessionsPerConnection);
    await warmUp(client, sessions);
    const last = new Map<string, StartedRun>();
    let count = 0;
    const before = await usage('usage');
    const from = { at: performance.now(), clock: Date.now() };
    await sideBySide({ clients: connections, ms: ms[scale] }, async (connection, time) => {
      const session =
        sessions[connection * sessionsPerConnection + (time % sessionsPerConnection)] ?? '';
      last.set(session, await startRun(client, session));
      count += 1;
    });
    const seconds = (performance.now() - from.at) / 1000;
    // Runs of a session are executed in order, so the last one's end is the end of all.
    const ends = await Promise.all(Array.from(last.values(), (run) => endOf(client, run)));
    const after = await usage('usage');
    client.close();
    const done = (Math.max(...ends) - from.clock) / 1000;
    return {
      operations: count,
      warmUps: sessions.length,
      starts: count / seconds,
      done: count / Math.max(done, seconds),
      cpuUs: (after.cpuUs - before.cpuUs) / count,
      statements: (after.statements - before.statements) / count,
      roundTrips: (after.roundTrips - before.roundTrips) / count,
    };
  },
};
