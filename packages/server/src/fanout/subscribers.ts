import type { Topic } from '../ports/fanout.ts';

/** The subscribers of this process, by topic. */
export class Subscribers {
  readonly #callbacks = new Map<Topic, Set<() => void>>();
  readonly #teardowns = new Map<Topic, () => void>();
  readonly #onInterest: Interest;

  constructor(onInterest: Interest = () => undefined) {
    this.#onInterest = onInterest;
  }

  add(topic: Topic, onWake: () => void): () => void {
    const callbacks = this.#callbacks.get(topic) ?? this.#open(topic);
    callbacks.add(onWake);
    return () => {
      callbacks.delete(onWake);
      if (callbacks.size === 0 && this.#callbacks.get(topic) === callbacks) this.#close(topic);
    };
  }

  wake(topic: Topic): void {
    for (const onWake of this.#callbacks.get(topic) ?? []) onWake();
  }

  /** Wakes every subscriber, after wake-ups of unknown topics were missed. */
  wakeAll(): void {
    for (const topic of Array.from(this.#callbacks.keys())) this.wake(topic);
  }

  /** Calls `onInterest` again for every topic: the medium was not connected when they got their first subscriber. */
  announce(): void {
    for (const topic of this.#callbacks.keys()) this.#declare(topic);
  }

  clear(): void {
    for (const topic of Array.from(this.#callbacks.keys())) this.#close(topic);
  }

  #open(topic: Topic): Set<() => void> {
    const callbacks = new Set<() => void>();
    this.#callbacks.set(topic, callbacks);
    this.#declare(topic);
    return callbacks;
  }

  #declare(topic: Topic): void {
    const teardown = this.#onInterest(topic);
    if (teardown !== undefined) this.#teardowns.set(topic, teardown);
  }

  #close(topic: Topic): void {
    this.#callbacks.delete(topic);
    this.#teardowns.get(topic)?.();
    this.#teardowns.delete(topic);
  }
}

/** Called when a topic gets its first subscriber; returns the teardown, called after the last has left. */
export type Interest = (topic: Topic) => (() => void) | undefined;
