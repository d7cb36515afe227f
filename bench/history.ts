import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const eventsPerRun = 100;
const runsPerSession = 10;

/** Puts finished runs straight into the database of a server that is not running: a year in seconds. */
export function fillHistory(dataDir: string, events: number): void {
  const known = JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')) as {
    organization_id: string;
    tenant_id: string;
  };
  const database = new DatabaseSync(join(dataDir, 'convoke.db'));
  database.exec('pragma synchronous = off; begin');
  insertRuns(database, known, Math.ceil(events / eventsPerRun));
  database.exec('commit; analyze; pragma wal_checkpoint(truncate)');
  database.close();
}

function insertRuns(
  database: DatabaseSync,
  owner: { readonly organization_id: string; readonly tenant_id: string },
  runs: number,
): void {
  const at = Date.now() - 86_400_000;
  const session = database.prepare(`
    insert into sessions (id, organization_id, tenant_id, agent_name, status, files_supported,
      queued_runs, run_count, pending_interactions, created_at, updated_at)
    values (?, ?, ?, 'bench', 'idle', 0, 0, ?, 0, ?, ?)`);
  const run = database.prepare(`
    insert into runs (id, organization_id, tenant_id, session_id, agent_name, number, status, input,
      output_text, pending_interactions, last_seq, last_event_at, lease_epoch, created_at, started_at, ended_at)
    values (?, ?, ?, ?, 'bench', ?, 'completed', '{"prompt":"go"}', '"word"', 0, ?, ?, 1, ?, ?, ?)`);
  const key = database.prepare(`
    insert into idempotency_keys (scope, key, tenant_id, fingerprint, resource_id, created_at)
    values (?, ?, ?, 'f', ?, ?)`);
  const event = database.prepare(
    'insert into run_events (run_id, seq, tenant_id, type, body) values (?, ?, ?, ?, ?)',
  );
  const { organization_id: organization, tenant_id: tenant } = owner;
  for (let index = 0; index < runs; index += 1) {
    const number = index % runsPerSession;
    const sessionId = `sess_0old${String(index - number).padStart(20, '0')}`;
    const runId = `run_0old${String(index).padStart(20, '0')}`;
    if (number === 0) session.run(sessionId, organization, tenant, runsPerSession, at, at);
    run.run(runId, organization, tenant, sessionId, number + 1, eventsPerRun, at, at, at, at);
    key.run(`${tenant}:start_run:${sessionId}`, runId, tenant, runId, at);
    for (let seq = 1; seq <= eventsPerRun; seq += 1) {
      const type =
        seq === 1 ? 'run_started' : seq < eventsPerRun ? 'message_delta' : 'run_completed';
      event.run(runId, seq, tenant, type, bodyOf({ seq, type, sessionId, runId }));
    }
  }
}

function bodyOf(event: { seq: number; type: string; sessionId: string; runId: string }): string {
  return JSON.stringify({
    id: String(event.seq).padStart(12, '0'),
    type: event.type,
    session_id: event.sessionId,
    run_id: event.runId,
    created_at: '2026-01-01T00:00:00.000Z',
    data: { text: 'word ', framework: 'scripted', model: 'scripted' },
  });
}
