import type { Topic } from '../ports/fanout.ts';
import { inBackground } from '../runtime/in-background.ts';

/** With more topics than this in one batch, all subscribers are woken instead. */
const topicsMax = 1000;

export interface WakeUpQueueOptions {
  /** Sends topics to the other servers; `everything` wakes all of their subscribers. */
  readonly send: (topics: readonly Topic[] | 'everything') => Promise<void>;
  /** Called when a batch could not be sent. It is dropped: readers poll every second. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Batches wake-ups for other servers. The first is sent at once; those added while a batch is being sent form the next
 * batch, each topic once. So a thousand commits a second need few messages, and a single one does not wait.
 */
export class WakeUpQueue {
  readonly #options: WakeUpQueueOptions;
  #topics = new Set<Topic>();
  #isEverything = false;
  #isSending = false;

  constructor(options: WakeUpQueueOptions) {
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
    setImmediate(() => inBackground(this.#drain()));
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
