import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { RunRecord } from '../src/index.ts';
import { runRecord } from './answering.ts';

/** What goes wrong with one connection to the events. */
export type Fault =
  /** Cut after so many bytes of the body: in a frame, in a character, before the first one. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** After so many bytes nothing comes any more, and nothing ends. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** Ends in order after so many events: the run has not got any further. */
  | { readonly kind: 'close'; readonly afterEvents: number }
  /** Begins so many events too early, and says each of them twice. */
  | { readonly kind: 'repeat'; readonly events: number }
  /** Something that is no event, after so many events. */
  | { readonly kind: 'garble'; readonly afterEvents: number }
  | { readonly kind: 'refuse'; readonly status: 429 | 500 | 503 }
  | { readonly kind: 'html' }
  /** No answer at all. */
  | { readonly kind: 'reset' }
  /** Every connection is dropped, and new connections are refused for a moment. */
  | { readonly kind: 'restart' };

export interface Play {
  readonly log: readonly LogEvent[];
  /** One per connection; those after the last fault go well. */
  readonly faults: readonly Fault[];
  /** In pieces of so many bytes, over and over. */
  readonly pieceBytes: readonly number[];
  readonly lineEnd: '\n' | '\r\n' | '\r';
  /** One per reading of the run: whether it is refused. */
  readonly refusedReads: readonly boolean[];
}

export interface LogEvent {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

export interface FaultServer extends AsyncDisposable {
  readonly baseUrl: string;
  /** Begins a new run; returns its id. */
  play(play: Partial<Play> & Pick<Play, 'log'>): string;
  /** `Last-Event-ID` of each connection of this play, in order. */
  readonly cursors: readonly (string | undefined)[];
  /** How often the run was read in this play. */
  readonly reads: number;
  readonly openStreams: number;
}

const sessionId = 'sess_1';
const restartMs = 5;

/** Serves the events of one run at a time, and goes wrong in the ways the play says. */
export async function startFaultServer(): Promise<FaultServer> {
  const sockets = new Set<Socket>();
  const streams = new Set<ServerResponse>();
  let stage: Stage = stageOf({ log: [] }, 'run_0');
  let plays = 0;
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const at = `/v1/sessions/${sessionId}/runs/${stage.runId}`;
    if (path === at) return answerRun(stage, response);
    if (path !== `${at}/events`) return void response.writeHead(404).end('{}');
    const cursor = request.headers['last-event-id'];
    stage.cursors.push(typeof cursor === 'string' ? cursor : undefined);
    const fault = stage.faults.shift();
    if (fault?.kind === 'restart') return restart();
    streams.add(response);
    response.once('close', () => streams.delete(response));
    return void serve(stage, { response, cursor: stage.cursors.at(-1), fault });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function restart(): void {
    server.close();
    for (const socket of sockets) socket.destroy();
    setTimeout(() => server.listen(port, '127.0.0.1'), restartMs);
  }

  return {
    baseUrl: `http://127.0.0.1:${port}`,
    play(play) {
      plays += 1;
      stage = stageOf(play, `run_${plays}`);
      return stage.runId;
    },
    get cursors() {
      return stage.cursors;
    },
    get reads() {
      return stage.reads;
    },
    get openStreams() {
      return streams.size;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Stage {
  readonly runId: string;
  readonly log: readonly LogEvent[];
  readonly faults: Fault[];
  readonly pieceBytes: readonly number[];
  readonly lineEnd: string;
  readonly refusedReads: boolean[];
  readonly cursors: (string | undefined)[];
  reads: number;
}

function stageOf(play: Partial<Play> & Pick<Play, 'log'>, runId: string): Stage {
  return {
    runId,
    log: play.log,
    faults: [...(play.faults ?? [])],
    pieceBytes: play.pieceBytes ?? [1 << 20],
    lineEnd: play.lineEnd ?? '\n',
    refusedReads: [...(play.refusedReads ?? [])],
    cursors: [],
    reads: 0,
  };
}

/** The run continues for as long as some connection is still to end early in order. */
function isOver({ faults }: Stage): boolean {
  return !faults.some(({ kind }) => kind === 'close');
}

function answerRun(stage: Stage, response: ServerResponse): void {
  const { runId, log, refusedReads } = stage;
  stage.reads += 1;
  if (refusedReads.shift() === true) return void response.writeHead(503).end('{}');
  const status = isOver(stage) ? 'completed' : 'running';
  const record: RunRecord = { ...runRecord, id: runId, status };
  if (isOver(stage)) record.last_event_id = log.at(-1)?.id;
  response.writeHead(200).end(JSON.stringify(record));
}

interface Connection {
  readonly response: ServerResponse;
  readonly cursor: string | undefined;
  readonly fault: Fault | undefined;
}

async function serve(stage: Stage, { response, cursor, fault }: Connection): Promise<void> {
  if (fault?.kind === 'reset') return void response.destroy();
  if (fault?.kind === 'refuse') return void response.writeHead(fault.status).end('{}');
  if (fault?.kind === 'html') {
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
  }
  const start = cursor === undefined ? 0 : stage.log.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && start === 0) return void response.writeHead(400).end('{}');
  // As the service does: nothing comes after the terminal event.
  if (fault === undefined && start > 0 && start === stage.log.length && isOver(stage)) {
    return void response.writeHead(204).end();
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const bytes = bytesOf(stage, start, fault);
  const limit = fault?.kind === 'cut' || fault?.kind === 'stall' ? fault.afterBytes : bytes.length;
  await writePieces(response, bytes.subarray(0, limit), stage.pieceBytes);
  if (fault?.kind === 'cut') response.destroy();
  else if (fault?.kind !== 'stall') response.end();
}

function bytesOf({ log, runId, lineEnd }: Stage, start: number, fault: Fault | undefined): Buffer {
  const frame = (event: LogEvent) => {
    const envelope = { ...event, session_id: sessionId, run_id: runId, created_at: 'now' };
    return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(envelope)}\n\n`;
  };
  const from = fault?.kind === 'repeat' ? Math.max(0, start - fault.events) : start;
  const isShort = fault?.kind === 'close' || fault?.kind === 'garble';
  const shown = log.slice(from, isShort ? Math.max(from, fault.afterEvents) : undefined);
  const frames = shown.map((event) => frame(event).repeat(fault?.kind === 'repeat' ? 2 : 1));
  const garbage = fault?.kind === 'garble' ? 'data: {"half":\n\n' : '';
  const text = `retry: 1\n\n: ping\n\n${frames.join(': ping\n\n')}${garbage}`;
  return Buffer.from(text.replaceAll('\n', lineEnd));
}

async function writePieces(
  response: ServerResponse,
  bytes: Buffer,
  sizes: readonly number[],
): Promise<void> {
  response.flushHeaders();
  let at = 0;
  for (let turn = 0; at < bytes.length && !response.destroyed; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    const piece = bytes.subarray(at, at + size);
    at += size;
    await new Promise((resolve) => response.write(piece, resolve));
  }
}
