import pg from 'pg';
import { median } from '../statistics.ts';
import { followRun, openSessions, requireWhole, startRun, warmUp } from '../workload.ts';
import { Service } from './service.ts';

const agent = { deltas: 50 };
const eventsPerRun = 100;

export interface HistoryFigures {
  readonly stored: number;
  readonly emptyMs: number;
  readonly fullMs: number;
}

/** A start, fifty events and a reader, before and after as many events were stored as a busy year leaves. */
export async function measureHistory(events: number, times: number): Promise<HistoryFigures> {
  await using service = await Service.start({
    roles: ['api,worker'],
    wakeups: 'postgres',
    agents: [agent],
  });
  const [client] = await service.clients(2);
  if (client === undefined) throw new Error('there is no server');
  const sessions = await openSessions(client, agent, 4);
  await warmUp(client, sessions);
  const once = async (session: string) => {
    const from = performance.now();
    requireWhole(await followRun(client, await startRun(client, session)), agent);
    return performance.now() - from;
  };
  const measure = async () => {
    const took: number[] = [];
    for (let time = 0; time < times; time += 1) took.push(await once(sessions[time % 4] ?? ''));
    return median(took);
  };
  const emptyMs = await measure();
  const stored = await fill(service.databaseUrl, events);
  const fullMs = await measure();
  client.close();
  return { stored, emptyMs, fullMs };
}

/** Straight into the tables, spread over the last half year, as finished runs of one old session each hundred. */
async function fill(url: string, events: number): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const runs = Math.ceil(events / eventsPerRun);
  await client.query(`set convoke.tenant = '*'`);
  await client.query(`set synchronous_commit = off`);
  const { rows } = await client.query<{ id: string; organization_id: string }>(
    'select id, organization_id from tenants limit 1',
  );
  const tenant = rows[0];
  if (tenant === undefined) throw new Error('there is no tenant');
  const owner = [tenant.id, tenant.organization_id];
  await client.query(
    `insert into sessions (id, organization_id, tenant_id, agent_name, status, files_supported, queued_runs,
       run_count, pending_interactions, created_at, updated_at)
     select 'sess_0old' || lpad(n::text, 21, '0'), $2, $1, 'bench', 'terminated', 0, 0, 100, 0, 0, 0
     from generate_series(0, $3::int / 100) n`,
    [...owner, runs],
  );
  await client.query(
    `insert into runs (id, organization_id, tenant_id, session_id, agent_name, number, status, input, output_text,
       pending_interactions, last_seq, last_event_at, lease_epoch, created_at, started_at, ended_at)
     select 'run_0old' || lpad(n::text, 21, '0'), $2, $1, 'sess_0old' || lpad((n / 100)::text, 21, '0'), 'bench',
       n % 100 + 1, 'completed', '{"prompt":"go"}', '"word"', 0, ${eventsPerRun}, 0, 1, 0, 0, 0
     from generate_series(0, $3::int - 1) n`,
    [...owner, runs],
  );
  const step = 10_000;
  for (let from = 0; from < runs; from += step) {
    await client.query(
      `insert into run_events (run_id, seq, tenant_id, type, body)
       select 'run_0old' || lpad(n::text, 21, '0'), seq, $1,
         case seq when 1 then 'run_started' when ${eventsPerRun} then 'run_completed' else 'message_delta' end,
         '{"id":"' || lpad(seq::text, 12, '0') || '","type":"message_delta","data":{"text":"word ","framework":"scripted"}}'
       from generate_series($2::int, $3::int) n, generate_series(1, ${eventsPerRun}) seq`,
      [tenant.id, from, Math.min(from + step, runs) - 1],
    );
  }
  await client.query('analyze');
  await client.end();
  return runs * eventsPerRun;
}
