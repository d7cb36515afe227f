import type { UiChunk } from '@convoke/faces';

/** The chunks of a message as they are, for a page that copies them on their way to the library. */
export class SentChunks {
  #chunks: UiChunk[] = [];

  take(chunk: UiChunk): void {
    const last = this.#chunks.at(-1);
    const isSpoken = chunk.type === 'text-delta' || chunk.type === 'reasoning-delta';
    if (isSpoken && last?.type === chunk.type && last.id === chunk.id) {
      this.#chunks[this.#chunks.length - 1] = { ...chunk, delta: last.delta + chunk.delta };
    } else this.#chunks.push(chunk);
  }

  *show(): Generator<UiChunk, true, undefined> {
    const chunks = this.#chunks;
    this.#chunks = [];
    yield* chunks;
    return true;
  }
}
