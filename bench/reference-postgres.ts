import { Pool, type PoolClient } from 'pg';
import type { EventRow, ReferenceStore } from './reference-store.ts';

const connections = 10;
const pageEvents = 1000;

/**
 * The transactions of a run, in thirteen statements: take it in, begin it, end it. The session is locked and counted
 * on as Convoke does. `pgbench.ts` sends the same texts.
 */
export const texts = {
  lockSession: 'select agent from sessions where id = $1 for update',
  insertRun: 'insert into runs (id, session_id, input) values ($1, $2, $3)',
  beginRun: 'update runs set started_at = $2 where id = $1',
  endRun: 'update runs set ended_at = $2 where id = $1',
  insertEvent: 'insert into run_events (run_id, seq, type, body) values ($1, $2, $3, $4)',
} as const;

export const schema = `
  create table if not exists sessions (id text primary key, agent text not null);
  create table if not exists runs (
    id text primary key, session_id text not null, input text not null, started_at bigint, ended_at bigint);
  create table if not exists run_events (
    run_id text not null, seq bigint not null, type text not null, body text not null,
    primary key (run_id, seq));
`;

type Query = readonly [name: string, text: string, values: readonly unknown[]];

/** The transactions of one run, one after another. */
interface Line {
  readonly waiting: { readonly write: () => void; readonly done: () => void }[];
  isBusy: boolean;
}

/** Taking a run in and beginning it are transactions of their own; after that, what waits shares the next one. */
const ownTransactions = 2;

export async function openPostgres(url: string): Promise<ReferenceStore> {
  const pool = new Pool({ connectionString: url, max: connections });
  await pool.query(schema);
  const lines = new Map<string, Line>();
  let written: Query[] = [];
  const add = (name: keyof typeof texts, ...values: readonly unknown[]) => {
    written.push([name, texts[name], values]);
  };

  async function drain(key: string, line: Line): Promise<void> {
    line.isBusy = true;
    for (let made = 0; line.waiting.length > 0; made += 1) {
      const work = line.waiting.splice(0, made < ownTransactions ? 1 : line.waiting.length);
      written = [];
      for (const { write } of work) write();
      await transact(pool, written);
      for (const { done } of work) done();
    }
    line.isBusy = false;
    lines.delete(key);
  }

  return {
    commit(key, write, done) {
      const line = lines.get(key) ?? { waiting: [], isBusy: false };
      lines.set(key, line);
      line.waiting.push({ write, done });
      if (!line.isBusy) void drain(key, line);
    },
    insertSession: (id, agent) =>
      void written.push(['insertSession', 'insert into sessions values ($1, $2)', [id, agent]]),
    insertRun(id, sessionId, input) {
      add('lockSession', sessionId);
      add('insertRun', id, sessionId, input);
    },
    endRun: (id) => add('endRun', id, Date.now()),
    insertEvent(runId, { seq, type, body }) {
      if (type === 'run_started') add('beginRun', runId, Date.now());
      add('insertEvent', runId, seq, type, body);
    },
    async read(runId, after) {
      const { rows } = await pool.query<EventRow>({
        name: 'read',
        text: 'select seq::int, type, body from run_events where run_id = $1 and seq > $2 order by seq limit $3',
        values: [runId, after, pageEvents],
      });
      return rows;
    },
    forget: () => {},
  };
}

async function transact(pool: Pool, queries: readonly Query[]): Promise<void> {
  const client: PoolClient = await pool.connect();
  await client.query('begin');
  for (const [name, text, values] of queries)
    await client.query({ name, text, values: [...values] });
  await client.query('commit');
  client.release();
}
