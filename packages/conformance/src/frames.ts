import { asFailure, ensure, excerpt } from './failure.ts';

/** A frame of an event stream with its one JSON event. */
export interface Frame {
  /** The lines that carry something, as they came. */
  readonly raw: string;
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

const frameMaxCharacters = 8 * 1024 * 1024;
/** Between two parts of a stream that has more to say; a service that keeps silent for longer sends comments. */
const silenceMs = 60_000;

interface Source {
  readonly asked: string;
  readonly closing: AbortController;
}

/** Reads the frames of a stream. Comments, `retry` and other fields are left out, as a reader does. */
export async function* framesOf(
  body: ReadableStream<Uint8Array> | null,
  { asked, closing }: Source,
): AsyncGenerator<Frame> {
  if (body === null) return;
  const decoder = new TextDecoder();
  const silent = () => closing.abort(new Error(`nothing for ${silenceMs / 1000} s`));
  let timer = setTimeout(silent, silenceMs);
  let pending = '';
  try {
    for await (const part of body) {
      clearTimeout(timer);
      timer = setTimeout(silent, silenceMs);
      pending += decoder.decode(part, { stream: true });
      ensure(pending.length <= frameMaxCharacters, `${asked}: a frame is too large`);
      // A part may end between CR and LF: that line end is read with the next part.
      const blocks = pending.split(/\r\n\r\n|\n\n|\r\r(?!\n)/);
      pending = blocks.pop() ?? '';
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame !== undefined) yield frame;
      }
    }
  } catch (cause) {
    throw asFailure(cause, asked);
  } finally {
    clearTimeout(timer);
    closing.abort();
  }
}

function frameOf(block: string): Frame | undefined {
  const lines = block.split(/\r\n|\n|\r/).filter((line) => /^(id|event|data)(:|$)/.test(line));
  const valuesOf = (name: string) =>
    lines
      .filter((line) => line === name || line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const data = valuesOf('data');
  if (data.length === 0) return undefined;
  return {
    raw: lines.join('\n'),
    id: valuesOf('id').at(-1) ?? '',
    event: valuesOf('event').at(-1) ?? '',
    data: parsed(data.join('\n')),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    ensure(false, `the data of a frame is not JSON: ${excerpt(text)}`);
  }
}
