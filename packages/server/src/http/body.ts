import type { IncomingMessage } from 'node:http';
import { type Operation, limits } from '@convoke/contract';
import { refuse } from '../app/refusal.ts';
import { parseForm } from './form-body.ts';
import { HttpRefusal } from './http-refusal.ts';
import { parseJson } from './json-body.ts';
import { mediaType } from './media.ts';

/** The body as a value to validate, or undefined when the operation takes bytes or nothing. */
export async function readBody(operation: Operation, message: IncomingMessage): Promise<unknown> {
  if (operation.body === undefined) return undefined;
  refuseEncoding(message);
  const isForm = operation.content === 'form';
  const bytes = await readBytes(message, isForm ? limits.formMaxBytes : limits.bodyMaxBytes);
  if (isForm) return parseForm(bytes, message.headers['content-type']);
  if (bytes.length === 0) {
    if (operation.bodyRequired === true) {
      refuse('invalid_body', { message: 'A JSON body is required.' });
    }
    return {};
  }
  requireJson(message);
  return parseJson(bytes);
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

/** A body that stops coming must not hold its connection: idle this long, and it is cut. */
const idleMs = 30_000;

/** Of a body that nobody wants any more, this much is still taken off the connection. */
const discardMaxBytes = 256 * 1024 * 1024;

/** The body as it arrives, given up when the client falls silent. */
export async function* arriving(message: IncomingMessage): AsyncGenerator<Buffer> {
  const { socket } = message;
  const cut = () => message.destroy();
  socket.setTimeout(idleMs, cut);
  try {
    // Whoever stops taking it still has an answer to give: only the client ends its request.
    yield* message.iterator({ destroyOnReturn: false });
  } finally {
    if (message.complete || message.destroyed) {
      socket.off('timeout', cut);
      socket.setTimeout(0);
    } else {
      message.once('close', () => socket.off('timeout', cut));
      abandonBody(message);
    }
  }
}

const abandoned = new WeakSet<IncomingMessage>();

/** For who is answered before all of the body has come: the answer must reach whoever is still sending. */
export function abandonBody(message: IncomingMessage): void {
  if (message.complete || message.destroyed || abandoned.has(message)) return;
  abandoned.add(message);
  discard(message);
  linger(message);
}

/** Many clients read no answer before they have sent all; so that they get to it, the rest is thrown away. */
function discard(message: IncomingMessage): void {
  let left = discardMaxBytes;
  message.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) message.destroy();
  });
  message.resume();
}

/**
 * Where the connection is to close after the answer, Node closes it as soon as the answer is written. What is still
 * on its way would then be met by a reset, which takes the answer from the client unread. So only our side is closed
 * at once; the other stays open until the request has ended, or has been silent for too long.
 */
function linger(message: IncomingMessage): void {
  const { socket } = message;
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.setTimeout(idleMs, () => socket.destroy());
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
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of arriving(message)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
