/**
 * Wake-ups: "look again", never what changed. The log in the database is the only data path, so a
 * lost wake-up costs latency and nothing else.
 */
export interface Fanout {
  /** True when a wake-up cannot be lost (one process); then nobody needs to poll. */
  readonly lossless: boolean;
  wake(topic: Topic): void;
  /** `onWake` is also called after a reconnect, because wake-ups were missed meanwhile. */
  subscribe(topic: Topic, onWake: () => void): () => void;
  close(): Promise<void>;
}

/**
 * `run:<id>`: its log grew. `control:<id>`: someone wants it cancelled, or answered it. `access:<id>`: what
 * this client may do was taken away. `work`: a run is ready.
 */
export type Topic = `run:${string}` | `control:${string}` | `access:${string}` | 'work';
