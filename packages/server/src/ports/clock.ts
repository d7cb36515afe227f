/** The only source of time and timers, so that tests can control both. */
export interface Clock {
  /** Milliseconds since the Unix epoch, as stored and shown. */
  now(): number;
  /** Calls back once after `ms`. Returns a cancel function. The timer does not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
}
