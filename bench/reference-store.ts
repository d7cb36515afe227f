import { DatabaseSync } from 'node:sqlite';

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly body: string;
}

export interface ReferenceStore {
  /** Calls `write` in the next transaction of the run or session `key`, and `done` once that is durable. */
  commit(key: string, write: () => void, done: () => void): void;
  insertSession(id: string, agent: string): void;
  insertRun(id: string, sessionId: string, input: string): void;
  endRun(id: string): void;
  insertEvent(runId: string, event: EventRow): void;
  read(runId: string, after: number): EventRow[] | Promise<EventRow[]>;
  forget(runId: string): void;
}

const pageEvents = 1000;

export function openSqlite(path: string): ReferenceStore {
  const writer = new DatabaseSync(path);
  writer.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    create table if not exists sessions (id text primary key, agent text not null) without rowid;
    create table if not exists runs (
      id text primary key, session_id text not null, input text not null, ended_at integer
    ) without rowid;
    create table if not exists run_events (
      run_id text not null, seq integer not null, type text not null, body text not null,
      primary key (run_id, seq)
    ) without rowid;
  `);
  const reader = new DatabaseSync(path, { readOnly: true });
  const begin = writer.prepare('begin immediate');
  const end = writer.prepare('commit');
  const session = writer.prepare('insert into sessions values (?, ?)');
  const run = writer.prepare('insert into runs (id, session_id, input) values (?, ?, ?)');
  const ended = writer.prepare('update runs set ended_at = ? where id = ?');
  const event = writer.prepare('insert into run_events values (?, ?, ?, ?)');
  const after = reader.prepare(
    'select seq, type, body from run_events where run_id = ? and seq > ? order by seq limit ?',
  );
  return {
    commit: perTurn((writes) => {
      begin.run();
      for (const write of writes) write();
      end.run();
    }),
    insertSession: (id, agent) => void session.run(id, agent),
    insertRun: (id, sessionId, input) => void run.run(id, sessionId, input),
    endRun: (id) => void ended.run(Date.now(), id),
    insertEvent: (runId, { seq, type, body }) => void event.run(runId, seq, type, body),
    read: (runId, seq) => after.all(runId, seq, pageEvents) as unknown as EventRow[],
    forget: () => {},
  };
}

export function openMemory(): ReferenceStore {
  const logs = new Map<string, EventRow[]>();
  return {
    commit(_key, write, done) {
      write();
      done();
    },
    insertSession: () => {},
    insertRun: (id) => void logs.set(id, []),
    endRun: () => {},
    insertEvent: (runId, event) => void logs.get(runId)?.push(event),
    read: (runId, after) => logs.get(runId)?.slice(after, after + pageEvents) ?? [],
    forget: (runId) => void logs.delete(runId),
  };
}

/** Gathers what comes in during one turn of the loop, of any run, and writes it in one go. */
function perTurn(writeAll: (writes: readonly (() => void)[]) => void) {
  let writes: (() => void)[] = [];
  let waiting: (() => void)[] = [];
  return (_key: string, write: () => void, done: () => void): void => {
    if (writes.length === 0) {
      setImmediate(() => {
        const [group, told] = [writes, waiting];
        [writes, waiting] = [[], []];
        writeAll(group);
        for (const tell of told) tell();
      });
    }
    writes.push(write);
    waiting.push(done);
  };
}
