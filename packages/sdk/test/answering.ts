import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { Convoke, type ConvokeOptions } from '../src/index.ts';

/** A request as it arrived, its body read. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (seen: Seen, response: ServerResponse) => void | Promise<void>;

export interface Answering extends AsyncDisposable {
  readonly baseUrl: string;
  readonly seen: readonly Seen[];
}

/** A server that answers as the test says, and remembers what it was asked. */
export async function answering(answer: Answer): Promise<Answering> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void readRequest(request).then((read) => {
      seen.push(read);
      return answer(read, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Answers one after the other, the last one for ever. */
export function inTurn(...answers: readonly Answer[]): Answer {
  let turn = 0;
  return (seen, response) => {
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    return answer?.(seen, response);
  };
}

export function json(status: number, body: object, headers: Record<string, string> = {}): Answer {
  return (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function refusal(
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Answer {
  return json(status, { error: code, message: `It says ${code}.`, request_id: 'req_1' }, headers);
}

/** The connection ends without a word. */
export const noAnswer: Answer = (_seen, response) => {
  response.destroy();
};

/** A client that retries at once and needs no token endpoint. */
export function clientAt(
  { baseUrl }: Pick<Answering, 'baseUrl'>,
  options: Partial<ConvokeOptions> = {},
): Convoke {
  return new Convoke({
    baseUrl,
    token: 'a-token',
    workspace: { organizationId: 'org_1', tenantId: 'ten_1' },
    retry: { baseMs: 1, maxMs: 2 },
    ...options,
  });
}

export const sessionRecord = {
  id: 'sess_1',
  agent_name: 'demo',
  status: 'idle',
  session_files_supported: true,
  pending_interactions: 0,
  labels: {},
  created_at: '2026-01-15T09:30:00.000Z',
  updated_at: '2026-01-15T09:30:00.000Z',
} as const;

export const runRecord = {
  attempt: 1,
  id: 'run_1',
  session_id: 'sess_1',
  agent_name: 'demo',
  status: 'running',
  input: { prompt: 'Hello' },
  pending_interactions: 0,
  labels: {},
  created_at: '2026-01-15T09:30:00.000Z',
} as const;

async function readRequest(request: IncomingMessage): Promise<Seen> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  let body = '';
  request.setEncoding('utf8');
  for await (const piece of request) body += piece;
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body,
  };
}
