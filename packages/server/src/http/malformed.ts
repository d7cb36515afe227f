import type { Socket } from 'node:net';
import { type ErrorCode, errors } from '@convoke/contract';
import type { Refusal } from '../app/refusal.ts';
import { HttpRefusal } from './http-refusal.ts';
import { baseHeaders } from './response-headers.ts';

/** What Node reports of bytes that it does not take for a request. */
interface ParseError extends Error {
  readonly code?: string;
  /** The bytes that were being read. Fastify declares another type than the one it passes on. */
  readonly rawPacket?: unknown;
}

interface Answer {
  readonly status: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly error: ErrorCode;
  readonly message: string;
}

const timedOut = 'ERR_HTTP_REQUEST_TIMEOUT';
const notHttp: Answer = {
  status: '400 Bad Request',
  error: 'invalid_request',
  message: 'The request is not valid HTTP.',
};
const answers: ReadonlyMap<string, Answer> = new Map([
  ['HPE_HEADER_OVERFLOW', { ...notHttp, status: '431 Request Header Fields Too Large' }],
  [
    timedOut,
    {
      ...notHttp,
      status: '408 Request Timeout',
      message: 'The head of the request was not complete in time.',
    },
  ],
]);

export interface MalformedParts {
  readonly refusalAt: (url: string) => Refusal;
  /** Answers have the headers of all others, with an id of their own: what the client sent as one was not read. */
  readonly newRequestId: () => string;
}

/** Answers bytes that Node does not read as a request. */
export function answerMalformed(
  error: ParseError,
  socket: Socket,
  { refusalAt, newRequestId }: MalformedParts,
): void {
  const isGone = error.code === 'ECONNRESET' || !socket.writable;
  // Nothing was asked. A client that picks this connection from its pool now would take an answer for that of its
  // request.
  if (isGone || (error.code === timedOut && socket.bytesRead === 0)) {
    socket.destroy();
    return;
  }
  const answer = answers.get(error.code ?? '') ?? toUnknownMethod(error, refusalAt) ?? notHttp;
  const id = newRequestId();
  const body = JSON.stringify({ error: answer.error, message: answer.message, request_id: id });
  const headers = {
    ...baseHeaders(undefined, id),
    ...answer.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${answer.status}\r\n${lines.join('')}\r\n${body}`);
}

/** RFC 9110 section 9.1: any token is a method. */
const requestLine = /^[\w!#$%&'*+.^`|~-]+ (\/\S*) HTTP\/1\.[01]\r\n/;

/** Not from `node:http`: an import of its names loads the client of `fetch`, which no server needs at its start. */
const statusTexts: Readonly<Record<number, string>> = {
  404: 'Not Found',
  405: 'Method Not Allowed',
};

/** Node does not know the method: the answer is that to any other method which is not at this path. */
function toUnknownMethod(
  { code, rawPacket }: ParseError,
  refusalAt: (url: string) => Refusal,
): Answer | undefined {
  if (code !== 'HPE_INVALID_METHOD') return undefined;
  const url = requestLine.exec(Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '')?.[1];
  if (url === undefined) return undefined;
  const refusal = refusalAt(url);
  const { status } = errors[refusal.code];
  return {
    status: `${status} ${statusTexts[status] ?? ''}`,
    ...(refusal instanceof HttpRefusal && { headers: refusal.headers }),
    error: refusal.code,
    message: refusal.message,
  };
}
