import { eventsOf } from '../agents.ts';
import type { Client } from '../client.ts';
import { endOf, openSessions, sideBySide, startRun, warmUp } from '../workload.ts';
import { Service } from './service.ts';

const connections = 32;
const short = { deltas: 1 };

export interface ScaleFigures {
  readonly startsPerSecond: number;
  readonly eventsPerSecond: number;
}

/** The same load on one, two or four servers: 32 callers, spread over all of them. */
export async function measureScale(servers: number, ms: number): Promise<ScaleFigures> {
  const long = { deltas: ms };
  await using service = await Service.start({
    roles: Array.from({ length: servers }, () => 'api,worker' as const),
    wakeups: 'postgres',
    agents: [short, long],
  });
  const clients = await service.clients(connections);
  const figures = {
    startsPerSecond: await starts(clients, ms),
    eventsPerSecond: await events(clients, long),
  };
  for (const client of clients) client.close();
  return figures;
}

async function starts(clients: readonly Client[], ms: number): Promise<number> {
  const at = (n: number) => clientAt(clients, n);
  const sessions = await openSessions(at(0), short, connections * 4);
  await warmUp(at(0), sessions);
  let count = 0;
  const from = performance.now();
  const last = new Map<string, () => Promise<number>>();
  await sideBySide({ clients: connections, ms }, async (connection, time) => {
    const session = sessions[connection * 4 + (time % 4)] ?? '';
    const run = await startRun(at(connection), session);
    last.set(session, () => endOf(at(connection), run));
    count += 1;
  });
  const seconds = (performance.now() - from) / 1000;
  // Every started run must also end, so that no server hides work in a queue.
  await Promise.all(Array.from(last.values(), (end) => end()));
  return count / seconds;
}

async function events(clients: readonly Client[], long: { deltas: number }): Promise<number> {
  const at = (n: number) => clientAt(clients, n);
  const sessions = await openSessions(at(0), long, connections);
  const from = Date.now();
  const ends = await Promise.all(
    sessions.map(async (session, n) => endOf(at(n), await startRun(at(n), session))),
  );
  return (connections * eventsOf(long)) / ((Math.max(...ends) - from) / 1000);
}

function clientAt(clients: readonly Client[], n: number): Client {
  const client = clients[n % clients.length];
  if (client === undefined) throw new Error('there is no server');
  return client;
}
