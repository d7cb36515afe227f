import { quantile } from '../statistics.ts';
import { openSessions, startRun, warmUp } from '../workload.ts';
import { Service } from './service.ts';

const runs = 8;

export interface DeliveryFigures {
  readonly p50: number;
  readonly p99: number;
}

/**
 * From when an event is stamped, before its commit, until a reader has it: the run executes on one server, the
 * reader follows on another. All clocks are this machine's.
 */
export async function measureDelivery(
  wakeups: 'postgres' | 'nats',
  events: number,
): Promise<DeliveryFigures> {
  const agent = { deltas: Math.ceil(events / runs), everyMs: 20 };
  await using service = await Service.start({
    roles: ['api', 'worker'],
    wakeups,
    agents: [agent, { deltas: 1 }],
  });
  const [client] = await service.clients(runs * 2, 1);
  if (client === undefined) throw new Error('there is no server');
  await warmUp(client, await openSessions(client, { deltas: 1 }, 1));
  const sessions = await openSessions(client, agent, runs);
  const lags = await Promise.all(
    sessions.map(async (session) => {
      const run = await startRun(client, session);
      const seen: number[] = [];
      await client.read(`/v1/sessions/${session}/runs/${run.runId}/events`, (event) => {
        if (event.type === 'message_delta') seen.push(Date.now() - Date.parse(event.created_at));
      });
      return seen;
    }),
  );
  client.close();
  const all = lags.flat();
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
}
