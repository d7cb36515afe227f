import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type McpEvent, McpEventParser, encodedEvent } from './mcp-events.ts';

/**
 * `fetch` for one remote MCP server under which no request stays without an answer (D-485). A stream that ends before
 * the answer is continued by `GET` with `Last-Event-ID` if its events have ids (SEP-1699). Otherwise the request gets
 * an error as its answer: the MCP client does not notice the end of a stream, and would wait for its whole time limit.
 */
export function fetchAnswers(type: 'http' | 'sse', send: typeof fetch): typeof fetch {
  return type === 'http' ? overRequests(send) : overOneStream(send);
}

const retryMsUsual = 1000;
/** Servers that close every stream at once are not asked more often than this. */
const retryMsMin = 100;
/** Connections in a row that bring no event before the request is given up. */
const fruitlessMax = 5;
/** JSON-RPC leaves these numbers to implementations. */
const noAnswerCode = -32_000;

interface Request {
  readonly id: number | string;
  readonly method: string;
}

/** Streamable HTTP: each request has a stream of its own. */
function overRequests(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const request = init?.method === 'POST' ? requestIn(init.body) : undefined;
    const response = await send(input, init);
    if (request === undefined || !isEventStream(response)) return response;
    const again = (after: string) => send(input, continuing(init ?? {}, response, after));
    const parts = { request, again, signal: init?.signal ?? undefined };
    return withBody(response, answered(response, parts));
  };
}

/** The older transport: one stream carries the answers to all requests. */
function overOneStream(send: typeof fetch): typeof fetch {
  const open = new Map<Request['id'], Request>();
  return async (input, init) => {
    if (init?.method === 'POST') {
      const request = requestIn(init.body);
      if (request !== undefined) open.set(request.id, request);
      return send(input, init);
    }
    const response = await send(input, init);
    if (!isEventStream(response)) return response;
    return withBody(response, answeredAll(response, open, init?.signal ?? undefined));
  };
}

async function* answeredAll(
  response: Response,
  open: Map<Request['id'], Request>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  for await (const event of eventsOf(response, new McpEventParser(), signal)) {
    const id = answeredBy(event);
    if (id !== undefined) open.delete(id);
    yield encodedEvent(event);
  }
  for (const request of open.values()) yield encodedEvent(noAnswerTo(request));
  open.clear();
}

interface Stream {
  readonly request: Request;
  /** Asks the server to continue after the event with this id. */
  readonly again: (after: string) => Promise<Response>;
  readonly signal: AbortSignal | undefined;
}

async function* answered(
  first: Response,
  { request, again, signal }: Stream,
): AsyncGenerator<Uint8Array, void> {
  let response: Response | undefined = first;
  let after: string | undefined;
  let retryMs = retryMsUsual;
  for (let fruitless = 0; fruitless < fruitlessMax; fruitless += 1) {
    if (response !== undefined) {
      const parser = new McpEventParser();
      let isAnswered = false;
      for await (const event of eventsOf(response, parser, signal)) {
        isAnswered ||= answeredBy(event) === request.id;
        yield encodedEvent(event);
      }
      if (isAnswered) return;
      if (parser.lastId !== undefined && parser.lastId !== after) fruitless = 0;
      after = parser.lastId ?? after;
      retryMs = Math.max(parser.retryMs ?? retryMs, retryMsMin);
    }
    if (after === undefined) break;
    await sleep(retryMs, undefined, signal === undefined ? {} : { signal });
    const reply = await reopen(() => again(after ?? ''), signal);
    if (reply === 'refused') break;
    response = reply;
  }
  yield encodedEvent(noAnswerTo(request));
}

/** Opens the next stream; undefined if the server may be able to do so later. */
async function reopen(
  open: () => Promise<Response>,
  signal: AbortSignal | undefined,
): Promise<Response | 'refused' | undefined> {
  let response: Response;
  try {
    response = await open();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return undefined;
  }
  if (isEventStream(response)) return response;
  await response.body?.cancel();
  return response.status === 429 || response.status >= 500 ? undefined : 'refused';
}

/** Yields the events of a stream until it ends or breaks. */
async function* eventsOf(
  response: Response,
  parser: McpEventParser,
  signal: AbortSignal | undefined,
): AsyncGenerator<McpEvent, void> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
  try {
    for (;;) {
      const read = await reader?.read();
      if (read === undefined || read.done) return;
      yield* parser.push(read.value);
    }
  } catch (error) {
    if (signal?.aborted === true) throw error;
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

function isEventStream({ ok, headers, body }: Response): boolean {
  return ok && body !== null && headers.get('content-type')?.includes('text/event-stream') === true;
}

function continuing(init: RequestInit, { headers: answer }: Response, after: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.delete('content-type');
  headers.set('accept', 'text/event-stream');
  headers.set('last-event-id', after);
  // The first request has no session yet: its answer names it.
  const session = answer.get('mcp-session-id');
  if (session !== null) headers.set('mcp-session-id', session);
  return { ...init, method: 'GET', headers, body: null };
}

const requestSchema = z.looseObject({ id: z.union([z.number(), z.string()]), method: z.string() });
const answerSchema = z.union([
  z.looseObject({ id: requestSchema.shape.id, result: z.unknown().refine(isPresent) }),
  z.looseObject({ id: requestSchema.shape.id, error: z.looseObject({}) }),
]);

function isPresent(value: unknown): boolean {
  return value !== undefined;
}

function requestIn(body: unknown): Request | undefined {
  return typeof body === 'string' ? requestSchema.safeParse(jsonIn(body)).data : undefined;
}

/** The id of the request that an event answers. */
function answeredBy({ name = 'message', data }: McpEvent): Request['id'] | undefined {
  return name === 'message' ? answerSchema.safeParse(jsonIn(data)).data?.id : undefined;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The answer to a request that the server did not answer. A tool may have been carried out: the model is told so. */
function noAnswerTo({ id, method }: Request): McpEvent {
  const doubt = method === 'tools/call' ? ', so the call may have been carried out' : '';
  const error = { code: noAnswerCode, message: `the server closed the stream${doubt}` };
  return { data: JSON.stringify({ jsonrpc: '2.0', id, error }) };
}

function withBody(
  { status, headers }: Response,
  pieces: AsyncGenerator<Uint8Array, void>,
): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return();
    },
  });
  return new Response(body, { status, headers });
}
