import { type Notice, notice } from '@convoke/contract';

/** The notices received on one stream of the feed, in order. */
export class NoticeReader implements AsyncIterable<Notice> {
  readonly notices: Notice[] = [];
  /** The frames as they came. */
  readonly frames: string[] = [];
  /** The last id that came, with or without a notice. */
  cursor: string | undefined;
  readonly #body: ReadableStreamDefaultReader<string>;
  #rest = '';
  #isOver = false;

  constructor(response: Response) {
    if (response.status !== 200 || response.body === null) {
      throw new Error(`the feed answered ${response.status}`);
    }
    this.#body = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Notice> {
    for (let at = 0; ; at += 1) {
      while (this.notices[at] === undefined && !this.#isOver) await this.#more();
      const read = this.notices[at];
      if (read === undefined) return;
      yield read;
    }
  }

  /** Reads until a notice of this type, and returns it. */
  async until(type: string, isWanted: (notice: Notice) => boolean = () => true): Promise<Notice> {
    for await (const read of this) if (read.type === type && isWanted(read)) return read;
    throw new Error(`the feed ended without ${type}`);
  }

  /** Reads until the cursor is at this id. */
  async untilCursor(id: string): Promise<void> {
    while (this.cursor !== id && !this.#isOver) await this.#more();
  }

  /** Reads to the end of the stream. */
  async all(): Promise<readonly Notice[]> {
    while (!this.#isOver) await this.#more();
    return this.notices;
  }

  async close(): Promise<void> {
    await this.#body.cancel();
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
    // The first frame has one line more, which is not of the notice.
    const block = sent.replace(/^retry: \d+\n/, '');
    this.frames.push(block);
    // Not by an expression: for those, U+2028 in a text ends a line.
    const lines = block.split('\n');
    const valueOf = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    this.cursor = valueOf('id') ?? this.cursor;
    const data = valueOf('data');
    if (data !== undefined) this.notices.push(notice.parse(JSON.parse(data)));
  }
}
