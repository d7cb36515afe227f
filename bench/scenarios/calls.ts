import type { BenchAgent } from '../agents.ts';
import { Client } from '../client.ts';
import type { Scenario } from '../scenario.ts';
import { type StartedRun, endOf, openSessions, sideBySide, startRun, warmUp } from '../workload.ts';

const connections = 16;
const runsOfEach = { full: 12, quick: 6, smoke: 1 };

/** Runs of twenty tool calls that must not be repeated, each of which passes the ledger. */
export const calls = callsOf('calls', { deltas: 0, appends: 20 });
/** The same beside a hundred rules that do not hold. */
export const ruledCalls = callsOf('ruled-calls', { deltas: 0, appends: 20, rules: 100 });

function callsOf(id: string, agent: BenchAgent): Scenario {
  const { appends = 0, rules = 0 } = agent;
  const beside = rules === 0 ? '' : ` beside ${rules} rules`;
  return {
    id,
    targets: ['convoke'],
    agents: () => [agent],
    rows: [
      {
        figure: 'done',
        title: `runs of ${appends} tool calls${beside}, ${connections} sessions`,
        unit: '/s',
        better: 'more',
        target: '',
      },
    ],

    async slice({ address, scale, usage }) {
      const client = new Client(address, connections);
      const sessions = await openSessions(client, agent, connections);
      await warmUp(client, sessions);
      const last = new Map<string, StartedRun>();
      const before = await usage('usage');
      const from = Date.now();
      const bounds = {
        clients: connections,
        ms: Number.POSITIVE_INFINITY,
        most: runsOfEach[scale],
      };
      await sideBySide(bounds, async (index) => {
        const run = await startRun(client, sessions[index] ?? '');
        last.set(run.sessionId, run);
      });
      // Runs of a session are executed in order, so the last one's end is the end of all.
      const ends = await Promise.all(Array.from(last.values(), (run) => endOf(client, run)));
      const after = await usage('usage');
      client.close();
      const count = connections * runsOfEach[scale];
      return {
        operations: count,
        warmUps: sessions.length,
        done: count / ((Math.max(...ends) - from) / 1000),
        cpuUs: (after.cpuUs - before.cpuUs) / count,
        statements: (after.statements - before.statements) / count,
        roundTrips: (after.roundTrips - before.roundTrips) / count,
      };
    },
  };
}
