/** The one source of time. Everything that waits or stamps goes through it, so tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch: what is stored and shown. */
  now(): number;
  /** Calls back once after `ms`. The returned function forgets it; it never keeps the process alive. */
  after(ms: number, callback: () => void): () => void;
}
