import type { Topic } from '../ports/fanout.ts';

/** More than this at once, and everybody is asked to look again instead. */
const topicsMax = 1000;

export interface OutboxOptions {
  /** Carries topics to the other servers; `everything` means that all of them should look again. */
  readonly send: (topics: readonly Topic[] | 'everything') => Promise<void>;
  /** A wake-up that could not be sent is forgotten: who missed it finds out by itself within a second. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Wake-ups on their way to other servers. The first goes at once; those that come while it is on its way go
 * together, each topic once. So a thousand commits a second cost few messages, and a lone one does not wait.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  #topics = new Set<Topic>();
  #isEverything = false;
  #isSending = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  add(topic: Topic): void {
    if (this.#topics.size >= topicsMax) this.addEverything();
    if (!this.#isEverything) this.#topics.add(topic);
    this.#start();
  }

  addEverything(): void {
    this.#isEverything = true;
    this.#topics.clear();
    this.#start();
  }

  #start(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    // After this turn of the event loop: commits that share a turn share a message.
    setImmediate(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#isEverything || this.#topics.size > 0) {
      const batch = this.#isEverything ? 'everything' : Array.from(this.#topics);
      this.#topics = new Set();
      this.#isEverything = false;
      try {
        await this.#options.send(batch);
      } catch (error) {
        this.#options.onFailure(error);
      }
    }
    this.#isSending = false;
  }
}
