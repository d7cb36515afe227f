import { type Readable, Writable } from 'node:stream';
import { type Stream, ndJsonStream } from '@agentclientprotocol/sdk';
import type { SandboxedProcess } from '../../ports/sandbox.ts';
import type { EventQueue } from '../event-queue.ts';

const messageBytesMax = 8 * 1024 * 1024;
const eventsHeldMax = 1024;
const bytesHeldMax = 8 * 1024 * 1024;

/**
 * The agent's input and output as a stream of messages. The SDK reads as fast as it can, so backpressure is applied
 * here: nothing is read while the leg has many events to store.
 */
export function messageStream(
  child: SandboxedProcess,
  listener: () => EventQueue | undefined,
): Stream {
  const output = Writable.toWeb(child.stdin);
  return ndJsonStream(output, withBackpressure(child.stdout, listener), {
    maxMessageBytes: messageBytesMax,
  });
}

function withBackpressure(
  stdout: Readable,
  listener: () => EventQueue | undefined,
): ReadableStream<Uint8Array> {
  const chunks = stdout[Symbol.asyncIterator]();
  let bytes = 0;
  const room = async () => {
    const queue = listener();
    if (queue === undefined || queue.size === 0) bytes = 0;
    else if (queue.size >= eventsHeldMax || bytes >= bytesHeldMax) {
      await queue.drained();
      bytes = 0;
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await room();
        const chunk: IteratorResult<unknown> = await chunks.next();
        if (chunk.done === true || !(chunk.value instanceof Uint8Array)) {
          controller.close();
          return;
        }
        bytes += chunk.value.length;
        controller.enqueue(chunk.value);
      },
      cancel: () => {
        stdout.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
