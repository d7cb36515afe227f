import type { IncomingMessage } from 'node:http';
import { type Operation, limits } from '@convoke/contract';
import { Refusal, refuse } from '../../app/refusal.ts';
import { HttpRefusal } from '../http-refusal.ts';
import { beginUpload, endUpload } from './body-watch.ts';
import { parseForm } from './form-body.ts';
import { parseJson } from './json-body.ts';
import { mediaType } from '../media.ts';

/**
 * Reads the body as a value to validate. Undefined when the operation takes bytes or no body; what is wrong with the
 * JSON of a call of JSON-RPC is returned.
 */
export async function readBody(
  operation: Operation,
  message: IncomingMessage,
  maxBytes: number,
): Promise<unknown> {
  if (operation.content === 'bytes') return undefined;
  if (operation.body === undefined) return refuseBody(message);
  refuseEncoding(message);
  const isForm = operation.content === 'form';
  const bytes = await readBytes(message, isForm ? limits.formMaxBytes : maxBytes);
  if (isForm) return parseForm(bytes, message.headers['content-type']);
  if (operation.content === 'json-rpc') return parseRpc(bytes, message);
  if (bytes.length === 0) {
    if (operation.bodyRequired === true) {
      refuse('invalid_body', { message: 'A JSON body is required.' });
    }
    return operation.absentBody === undefined ? {} : operation.absentBody;
  }
  requireJson(message);
  return parseJson(bytes);
}

/** Returns the refusal of bytes that are not JSON: the handler says so in the protocol of its clients. */
function parseRpc(bytes: Buffer, message: IncomingMessage): unknown {
  requireJson(message);
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Spec §1.2: what an operation does not declare is refused, not ignored; a whole body no less than one field. */
async function refuseBody(message: IncomingMessage): Promise<undefined> {
  const noBody = () => refuse('invalid_body', { message: 'This operation takes no body.' });
  if (Number(message.headers['content-length'] ?? 0) > 0) noBody();
  // Only the bytes show whether a body in chunks has any.
  if (message.headers['transfer-encoding'] === undefined) return undefined;
  for await (const chunk of arriving(message)) if (chunk.length > 0) noBody();
  return undefined;
}

export function refuseEncoding(message: IncomingMessage): void {
  const encoding = message.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  refuse('unsupported_media_type', {
    message: 'Content-Encoding is not supported; send plain bytes.',
  });
}

function requireJson(message: IncomingMessage): void {
  if (mediaType(message.headers['content-type']) === 'application/json') return;
  refuse('unsupported_media_type', { message: 'Content-Type must be application/json.' });
}

/** How much of an unwanted body is still read and discarded. */
const discardMaxBytes = 256 * 1024 * 1024;

/** Yields the bytes of an upload as they arrive. */
export function uploaded(message: IncomingMessage): AsyncGenerator<Buffer> {
  beginUpload(message);
  return arriving(message);
}

/** Yields the body as it arrives. */
async function* arriving(message: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // A reader that stops early must still be able to answer, so leaving the loop does not destroy the request.
    yield* message.iterator({ destroyOnReturn: false });
  } finally {
    abandonBody(message);
  }
}

const abandoned = new WeakSet<IncomingMessage>();

/**
 * Call when responding before the body is fully read: keeps the socket readable so that the client gets the response.
 */
export function abandonBody(message: IncomingMessage): void {
  if (message.complete || message.destroyed || abandoned.has(message)) return;
  abandoned.add(message);
  endUpload(message);
  discard(message);
  linger(message);
}

/** Reads and discards the rest of the body, because many clients read no response before they have sent everything. */
function discard(message: IncomingMessage): void {
  let left = discardMaxBytes;
  message.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) message.destroy();
  });
  message.resume();
}

/**
 * Delays the close of the connection. Node closes it as soon as the response is written; bytes of the body that arrive
 * afterwards would cause a reset, and the client would lose the response. So only the sending side is closed at once;
 * the receiving side stays open until the request has ended, which `watchBodies` bounds.
 */
function linger(message: IncomingMessage): void {
  const { socket } = message;
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    message.once('close', close);
    socket.end();
  };
  message.once('close', () => {
    socket.destroySoon = close;
  });
}

async function readBytes(message: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () =>
    new HttpRefusal('body_too_large', {
      message: `The body is larger than ${maxBytes} bytes.`,
      headers: { connection: 'close' },
    });
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  // A small body has arrived by the time that its caller is admitted: nothing has to wait for it.
  if (hasArrived(message) && message.readableLength <= maxBytes) {
    const bytes: unknown = message.read();
    return bytes instanceof Buffer ? bytes : Buffer.alloc(0);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of arriving(message)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Node notes that a body is complete only after the microtasks behind its last bytes. */
function hasArrived({ complete, destroyed, headers, readableLength }: IncomingMessage): boolean {
  return !destroyed && (complete || readableLength === Number(headers['content-length']));
}
