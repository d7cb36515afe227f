/** An event of a stream of the protocol. */
export interface Frame {
  readonly id: string | undefined;
  /** Empty in the event that only has an id. */
  readonly data: string;
}

/** Reads server-sent events; a last one that is not complete is dropped. */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    yield* blocks.map(frameIn);
  }
}

function frameIn(block: string): Frame {
  const lines = block.split('\n');
  const valueOf = (name: string) =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  return { id: valueOf('id'), data: valueOf('data') ?? '' };
}
