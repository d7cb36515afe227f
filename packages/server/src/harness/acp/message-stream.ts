import { type Readable, Writable } from 'node:stream';
import { type Stream, ndJsonStream } from '@agentclientprotocol/sdk';
import { extentOfJson } from '../../domain/json-bounds.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SandboxedProcess } from '../../ports/sandbox.ts';
import type { EventQueue } from '../event-queue.ts';
import { LegFailure } from '../leg-failure.ts';
import { type Line, LineTooLong, linesOf } from '../lines.ts';
import { ReadingPace, problemOf } from '../message-bounds.ts';

const messageBytesMax = 8 * 1024 * 1024;
const eventsHeldMax = 1024;
const bytesHeldMax = 8 * 1024 * 1024;

/**
 * The agent's input and output as a stream of messages. The SDK reads as fast as it can and parses everything, so both
 * are bounded here: nothing is read while the leg has many events to store, and a message that is too large ends the
 * leg.
 */
export function messageStream(
  { child, clock }: { readonly child: SandboxedProcess; readonly clock: Clock },
  listener: () => EventQueue | undefined,
): Stream {
  const output = Writable.toWeb(child.stdin);
  const lines = boundedLines(child.stdout, clock);
  return ndJsonStream(output, withBackpressure({ lines, stdout: child.stdout }, listener), {
    maxMessageBytes: messageBytesMax + 1,
  });
}

/**
 * The lines of an agent, read at the pace that one program may have. Throws a `LegFailure` for one that is too large.
 */
async function* boundedLines(stdout: Readable, clock: Clock): AsyncGenerator<Line, void> {
  const pace = new ReadingPace(clock);
  try {
    for await (const line of linesOf(stdout, messageBytesMax)) {
      const extent = extentOfJson(line.text);
      const problem = problemOf(extent);
      if (problem !== undefined) throw refusal(problem);
      yield line;
      await pace.charge({ bytes: line.bytes, values: extent.values });
    }
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error;
    throw refusal(`it is longer than ${messageBytesMax} bytes`);
  }
}

function refusal(problem: string): LegFailure {
  return new LegFailure('agent_error', `A message of the agent cannot be read: ${problem}.`);
}

interface AgentOutput {
  readonly lines: AsyncGenerator<Line, void>;
  readonly stdout: Readable;
}

function withBackpressure(
  { lines, stdout }: AgentOutput,
  listener: () => EventQueue | undefined,
): ReadableStream<Uint8Array> {
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
        const line = await lines.next();
        if (line.done === true) {
          controller.close();
          return;
        }
        bytes += line.value.bytes;
        controller.enqueue(Buffer.from(`${line.value.text}\n`));
      },
      cancel: () => {
        stdout.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
