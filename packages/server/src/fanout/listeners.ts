import type { Topic } from '../ports/fanout.ts';

/** Who in this process wants to know of what. */
export class Listeners {
  readonly #known = new Map<Topic, Set<() => void>>();
  readonly #withdraw = new Map<Topic, () => void>();
  readonly #onInterest: Interest;

  constructor(onInterest: Interest = () => undefined) {
    this.#onInterest = onInterest;
  }

  add(topic: Topic, onWake: () => void): () => void {
    const known = this.#known.get(topic) ?? this.#open(topic);
    known.add(onWake);
    return () => {
      known.delete(onWake);
      if (known.size === 0 && this.#known.get(topic) === known) this.#close(topic);
    };
  }

  wake(topic: Topic): void {
    for (const onWake of this.#known.get(topic) ?? []) onWake();
  }

  /** Wake-ups were missed, nobody knows which: everyone looks again. */
  wakeAll(): void {
    for (const topic of Array.from(this.#known.keys())) this.wake(topic);
  }

  /** Tells of every topic once more, to a medium that was not there when they got their listeners. */
  announce(): void {
    for (const topic of this.#known.keys()) this.#declare(topic);
  }

  clear(): void {
    for (const topic of Array.from(this.#known.keys())) this.#close(topic);
  }

  #open(topic: Topic): Set<() => void> {
    const listeners = new Set<() => void>();
    this.#known.set(topic, listeners);
    this.#declare(topic);
    return listeners;
  }

  #declare(topic: Topic): void {
    const withdraw = this.#onInterest(topic);
    if (withdraw !== undefined) this.#withdraw.set(topic, withdraw);
  }

  #close(topic: Topic): void {
    this.#known.delete(topic);
    this.#withdraw.get(topic)?.();
    this.#withdraw.delete(topic);
  }
}

/** Told when a topic gets its first listener; what it answers is called when the last has left. */
export type Interest = (topic: Topic) => (() => void) | undefined;
