import { type RunEvent, runEvent } from '@convoke/contract';

export interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: RunEvent;
  /** The frame as it came, without the empty line after it. */
  readonly text: string;
}

/** The frames received on one `text/event-stream`, in order. */
export class EventReader implements AsyncIterable<Frame> {
  readonly status: number;
  readonly headers: Headers;
  /** `retry: …` and comments, as they came. */
  readonly asides: string[] = [];
  readonly frames: Frame[] = [];
  readonly #body: ReadableStreamDefaultReader<string>;
  readonly #stop: AbortController;
  #rest = '';
  #isOver = false;

  constructor(response: Response, stop: AbortController) {
    if (response.body === null) throw new Error('the answer has no body to read events from');
    this.status = response.status;
    this.headers = response.headers;
    const decoder = new TextDecoderStream('utf-8', { fatal: true });
    this.#body = response.body.pipeThrough(decoder).getReader();
    this.#stop = stop;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Frame> {
    for (let at = 0; ; at += 1) {
      while (this.frames[at] === undefined && !this.#isOver) await this.#more();
      const frame = this.frames[at];
      if (frame === undefined) return;
      yield frame;
    }
  }

  /** Reads until a frame of this type, and returns it. */
  async until(type: string): Promise<Frame> {
    for await (const frame of this) if (frame.event === type) return frame;
    throw new Error(`the stream ended without ${type}; it had ${this.types().join(', ')}`);
  }

  /** Reads to the end of the stream. */
  async all(): Promise<readonly Frame[]> {
    while (!this.#isOver) await this.#more();
    return this.frames;
  }

  types(): string[] {
    return this.frames.map((frame) => frame.event);
  }

  /** The received part of an incomplete frame. */
  get torn(): string {
    return this.#rest;
  }

  /** Drops the connection. */
  close(): void {
    this.#stop.abort();
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#body.read();
    if (done) {
      this.#isOver = true;
      return;
    }
    const blocks = (this.#rest + value).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#take(block);
  }

  #take(sent: string): void {
    const [, retry, block = sent] = /^(retry: \d+)\n(.*)$/s.exec(sent) ?? [];
    if (retry !== undefined) this.asides.push(retry);
    if (!block.startsWith('id: ')) {
      this.asides.push(block);
      return;
    }
    const match = /^id: ([^\n]*)\nevent: ([^\n]*)\ndata: ([^\n]*)$/.exec(block);
    if (match === null) throw new Error(`not a frame of this API: ${block}`);
    const [, id = '', event = '', data = ''] = match;
    this.frames.push({ id, event, data: runEvent.parse(JSON.parse(data)), text: block });
  }
}
