import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Conversation, type Piece, type Reply, replyTo } from './conversation.ts';
import { type Dialect, usage, usualReasons } from './dialect.ts';
import { anthropicMessages } from './dialects/anthropic-messages.ts';
import { google } from './dialects/google.ts';
import { openaiChat } from './dialects/openai-chat.ts';
import { openaiResponses } from './dialects/openai-responses.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';

const dialects: readonly Dialect[] = [openaiChat, openaiResponses, anthropicMessages, google];
const bodyBytesMax = 64 * 1024 * 1024;

export interface ModelServer {
  /** Without a path: `/v1` and what follows is the client's to add. */
  readonly url: string;
  readonly log: RequestLog;
  close(): Promise<void>;
}

/**
 * A model that does what the prompt says (see `script.ts`), behind the wire formats of real ones. It keeps
 * nothing between requests, so any number of sessions share it. A key that begins with `bad` is refused, and so
 * is a model whose name begins with `refused`.
 */
export async function startModelServer({ port = 0 } = {}): Promise<ModelServer> {
  const log = new RequestLog();
  const server = createServer((request, response) => {
    serve(request, response, log).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, { error: { message, type: 'invalid_request_error' } });
    });
  });
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    log,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  log: RequestLog,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (path === '/log') return sendJson(response, 200, log.requests);
  if (path.endsWith('/models')) {
    const model = { id: 'scripted', object: 'model', created: 1, owned_by: 'convoke' };
    return sendJson(response, 200, { object: 'list', data: [model] });
  }
  // Clients that would rather have a WebSocket continue without one then.
  if (request.headers.upgrade !== undefined)
    return sendJson(response, 426, { error: { message: 'HTTP it is.' } });
  const body: unknown = JSON.parse(await textOf(request));
  if (path.endsWith('/messages/count_tokens'))
    return sendJson(response, 200, { input_tokens: usage.input });
  const dialect = dialects.find((candidate) => candidate.path.test(path));
  if (dialect === undefined)
    return sendJson(response, 404, { error: { message: 'No such path.' } });
  const conversation = dialect.read(body, path);
  const key = dialect.keyOf(request.headers);
  const reply = admit(conversation, key);
  const logged = log.add({ dialect: dialect.name, key, conversation, status: reply.status });
  response.on('close', () => log.close(logged, response.writableFinished));
  const message = reply.message ?? usualReasons[reply.status] ?? 'The model server failed.';
  if (reply.pieces === undefined)
    return sendJson(response, reply.status, dialect.error(reply.status, message));
  const answer = { response, dialect, conversation, pieces: reply.pieces, logged };
  return conversation.isStreamed ? stream(answer) : sendWhole(answer);
}

function admit(conversation: Conversation, key: string | undefined): Reply {
  if (key?.startsWith('bad') === true) return { status: 401 };
  if (conversation.model.startsWith('refused')) return { status: 404 };
  return replyTo(conversation);
}

interface Answer {
  readonly response: ServerResponse;
  readonly dialect: Dialect;
  readonly conversation: Conversation;
  readonly pieces: readonly Piece[];
  readonly logged: LoggedRequest;
}

async function stream({ response, dialect, conversation, pieces, logged }: Answer): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const frames = dialect.frames(conversation.model);
  response.write(frames.open());
  for (const piece of pieces) {
    if (response.destroyed) return;
    switch (piece.kind) {
      case 'text':
        response.write(frames.text(piece.text));
        // A turn of its own, so that clients see as many chunks as there are words.
        await pause(1);
        break;
      case 'call':
        response.write(frames.call(piece.call));
        break;
      case 'pause':
        await pause(piece.ms);
        break;
      case 'hang':
        return;
      case 'restart':
        break;
      case 'cut':
        logged.wasCut = true;
        response.destroy();
        return;
    }
  }
  response.end(frames.close());
}

async function sendWhole({ response, dialect, conversation, pieces, logged }: Answer) {
  for (const piece of pieces) {
    if (piece.kind === 'pause') await pause(piece.ms);
    if (piece.kind === 'hang') return;
    if (piece.kind !== 'cut') continue;
    logged.wasCut = true;
    response.destroy();
    return;
  }
  const text = pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
  const calls = pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.call] : []));
  sendJson(response, 200, dialect.whole({ model: conversation.model, text, calls }));
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > bodyBytesMax) throw new Error('the request is too large');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}
