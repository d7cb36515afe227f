/**
 * The smallest server of Convoke's shape that can be written on bare node:http: sessions, runs, and events
 * as they happen, with replay. No token, no validation, no idempotency, no order within a session, no
 * recovery. `--store sqlite` commits every run and every event, one transaction per turn of the loop, before
 * it answers or delivers; `--store postgres` does so with three transactions for each run; `--store mem` keeps what it
 * must in memory. It is the yardstick, not a product.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agentName, agentOf, eventsPerTurn, word } from './agents.ts';
import { openPostgres } from './reference-postgres.ts';
import { type EventRow, type ReferenceStore, openMemory, openSqlite } from './reference-store.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    data: { type: 'string', default: '.' },
    port: { type: 'string', default: '0' },
  },
});

interface Run {
  readonly id: string;
  readonly sessionId: string;
  readonly readers: Set<ServerResponse>;
  seq: number;
  /** The last event that is durable and may be read. */
  released: number;
  endedAt: number | undefined;
}

const store = await openStore();
const sessions = new Map<string, string>();
const runs = new Map<string, Run>();
const runsKept = 20_000;
const absent = { error: 'not_found' };

async function openStore(): Promise<ReferenceStore> {
  if (values.store === 'mem') return openMemory();
  if (values.store === 'sqlite') return openSqlite(join(values.data, 'reference.db'));
  return openPostgres(process.env['CONVOKE_DATABASE_URL'] ?? '');
}

createServer((request, response) => {
  const [, , kind, sessionId = '', part, runId = '', tail] = (request.url ?? '').split('/');
  if (kind === undefined) return answer(response, 200, { status: 'ready' });
  if (request.method === 'POST') {
    const isKnown = kind === 'sessions' && (sessionId === '' || sessions.has(sessionId));
    const isRun = part === 'runs' && runId === '';
    if (!isKnown || (sessionId !== '' && !isRun)) return answer(response, 404, absent);
    return readJson(request, response, (body) =>
      sessionId === ''
        ? openSession(response, String(body['agent_name']))
        : startRun(response, sessionId, body),
    );
  }
  const run = runs.get(runId);
  if (run === undefined) return answer(response, 404, absent);
  if (tail === undefined) return answer(response, 200, view(run));
  void follow(response, run, Number(request.headers['last-event-id'] ?? 0));
}).listen(Number(values.port), '127.0.0.1');

// A normal exit writes the compile cache for the next start, as Convoke's does.
process.once('SIGTERM', () => process.exit());

function openSession(response: ServerResponse, agent: string): void {
  const id = randomUUID();
  sessions.set(id, agentName(agentOf(agent)));
  store.commit(
    id,
    () => store.insertSession(id, agent),
    () => answer(response, 201, { id }),
  );
}

function startRun(
  response: ServerResponse,
  sessionId: string,
  body: Readonly<Record<string, unknown>>,
): void {
  const run: Run = {
    id: randomUUID(),
    sessionId,
    readers: new Set(),
    seq: 0,
    released: 0,
    endedAt: undefined,
  };
  store.commit(
    run.id,
    () => store.insertRun(run.id, sessionId, JSON.stringify(body['input'])),
    () => {
      runs.set(run.id, run);
      forgetOldest();
      answer(response, 201, view(run));
      void execute(run, sessions.get(sessionId) ?? '');
    },
  );
}

async function execute(run: Run, agent: string): Promise<void> {
  const { deltas, everyMs, waitMs } = agentOf(agent);
  append(run, 'run_started', { run_id: run.id });
  if (waitMs > 0) await pause(waitMs);
  for (let said = 1; said <= deltas; said += 1) {
    append(run, 'message_delta', { text: word, framework: 'reference', model: 'reference' });
    if (said === deltas) break;
    if (everyMs > 0) await pause(everyMs);
    else if (said % eventsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  append(run, 'run_completed', { run_id: run.id });
}

/** Delivers events only once they are durable: those of one commit are written together. */
function append(run: Run, type: string, data: unknown): void {
  const seq = ++run.seq;
  const id = String(seq).padStart(12, '0');
  const body = JSON.stringify({
    id,
    type,
    session_id: run.sessionId,
    run_id: run.id,
    created_at: new Date().toISOString(),
    data,
  });
  const isLast = type === 'run_completed';
  store.commit(
    run.id,
    () => {
      store.insertEvent(run.id, { seq, type, body });
      if (isLast) store.endRun(run.id);
    },
    () => {
      run.released = seq;
      release(run, frame({ seq, type, body }), isLast);
    },
  );
}

const unwritten = new Map<Run, string>();

function release(run: Run, text: string, isLast: boolean): void {
  if (isLast) run.endedAt = Date.now();
  if (unwritten.size === 0) queueMicrotask(deliver);
  unwritten.set(run, (unwritten.get(run) ?? '') + text);
}

function deliver(): void {
  for (const [run, text] of unwritten) {
    const bytes = Buffer.from(text);
    for (const reader of run.readers) {
      if (run.endedAt === undefined) reader.write(bytes);
      else reader.end(bytes);
    }
  }
  unwritten.clear();
}

async function follow(response: ServerResponse, run: Run, after: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write('retry: 2000\n\n');
  let cursor = after;
  while (cursor < run.released) {
    const read = store.read(run.id, cursor);
    const rows = Array.isArray(read) ? read : await read;
    // Committed, but its readers are not served yet: it comes with the others.
    const page = rows.filter(({ seq }) => seq <= run.released);
    cursor += page.length;
    if (!response.write(page.map(frame).join(''))) {
      await new Promise((resolve) => response.once('drain', resolve));
    }
  }
  if (run.endedAt !== undefined) return void response.end();
  run.readers.add(response);
  response.once('close', () => run.readers.delete(response));
}

function frame({ seq, type, body }: EventRow): string {
  return `id: ${String(seq).padStart(12, '0')}\nevent: ${type}\ndata: ${body}\n\n`;
}

function view({ id, sessionId, endedAt }: Run): unknown {
  const ended = endedAt === undefined ? {} : { ended_at: new Date(endedAt).toISOString() };
  return { id, session_id: sessionId, status: endedAt ? 'completed' : 'running', ...ended };
}

function forgetOldest(): void {
  if (runs.size <= runsKept) return;
  const [oldest] = runs.keys();
  if (oldest === undefined) return;
  runs.delete(oldest);
  store.forget(oldest);
}

/** A body that cannot be used is refused: other callers of the server go on. */
function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  use: (body: Readonly<Record<string, unknown>>) => void,
): void {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => (text += part));
  request.on('end', () => {
    try {
      use(JSON.parse(text) as Record<string, unknown>);
    } catch {
      answer(response, 400, { error: 'bad_request' });
    }
  });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    .end(text);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
