import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request on its way to the service. */
export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** The body as JSON; undefined if it is not JSON. */
  json: Record<string, unknown> | undefined;
}

/** An answer on its way back, for whole bodies. */
export interface Returned {
  status: number;
  readonly headers: Record<string, string>;
  text: string;
}

/** What the service behind the proxy seems to do differently. */
export interface Deviation {
  /** Changes a request; what it returns is the answer, without the service. */
  readonly request?: (request: Passed) => Returned | undefined;
  readonly answer?: (answer: Returned, request: Passed) => void;
  /** Replaces one frame of an event stream, with its empty line. */
  readonly frame?: (frame: string) => string;
}

const dropped = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
]);

/** Passes requests on to a service and deviates on the way. Returns its address and how to stop it. */
export async function startProxy(
  service: string,
  deviation: Deviation,
): Promise<{ readonly baseUrl: string; close(): void }> {
  const server = createServer((incoming, response) => {
    pass(service, deviation, { incoming, response }).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { baseUrl: `http://127.0.0.1:${port}`, close };
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
}

async function pass(service: string, deviation: Deviation, exchange: Exchange): Promise<void> {
  const { incoming, response } = exchange;
  const bytes = await buffer(incoming);
  const request: Passed = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: textHeaders(Object.entries(incoming.headers)),
    json: parsed(bytes.toString()),
  };
  const instead = deviation.request?.(request);
  if (instead !== undefined) return write(response, instead);
  const body = request.json === undefined ? bytes : Buffer.from(JSON.stringify(request.json));
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const answer = await fetch(service + request.path, {
    method: request.method,
    headers: request.headers,
    ...(body.length > 0 && { body }),
    redirect: 'manual',
    signal: gone.signal,
  });
  const headers = textHeaders([...answer.headers]);
  if (headers['content-type']?.startsWith('text/event-stream')) {
    response.writeHead(answer.status, headers);
    response.flushHeaders();
    await passFrames(answer, response, deviation.frame ?? ((frame) => frame));
    return void response.end();
  }
  const returned = { status: answer.status, headers, text: '' };
  const content = Buffer.from(await answer.arrayBuffer());
  if (deviation.answer === undefined) return write(response, returned, content);
  returned.text = content.toString('latin1');
  deviation.answer(returned, request);
  write(response, returned, Buffer.from(returned.text, 'latin1'));
}

async function passFrames(
  answer: Response,
  response: ServerResponse,
  frameOf: (frame: string) => string,
): Promise<void> {
  const decoder = new TextDecoder();
  let pending = '';
  for await (const part of answer.body ?? []) {
    pending += decoder.decode(part, { stream: true });
    const frames = pending.split(/(?<=\n\n)/);
    pending = frames.at(-1)?.endsWith('\n\n') ? '' : (frames.pop() ?? '');
    response.write(frames.map(frameOf).join(''));
  }
  response.write(pending);
}

function write(response: ServerResponse, answer: Returned, bytes = Buffer.from(answer.text)): void {
  response.writeHead(answer.status, answer.headers);
  response.end(bytes);
}

function textHeaders(entries: readonly (readonly [string, unknown])[]): Record<string, string> {
  const kept = entries.filter(([name]) => !dropped.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
