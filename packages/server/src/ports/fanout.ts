/**
 * Wake-ups between processes. They carry no data: the subscriber reads the database again, so a lost
 * wake-up only adds latency.
 */
export interface Fanout {
  /** True when a wake-up cannot be lost (one process): then subscribers need not poll. */
  readonly lossless: boolean;
  wake(topic: Topic): void;
  /** `onWake` is also called after a reconnect, because wake-ups may have been missed. */
  subscribe(topic: Topic, onWake: () => void): () => void;
  close(): Promise<void>;
}

/**
 * `run:<id>`: the run's log grew. `control:<id>`: the run was cancelled or answered. `access:<id>`: access
 * of this client or person was taken away. `work`: a run is ready to be claimed. `notices`: the outbox has notices to
 * be numbered. `deliveries`: webhooks have something to send. `feed:<tenant>`: the feed of this tenant grew. `tenants`:
 * a tenant is to be provisioned. `left:<digest>`: a client waits no longer for what the digest names.
 * `connection:<id>`: the refresh of its token has ended. `connections`: an account was connected, for which a run may
 * wait.
 */
export type Topic =
  | `run:${string}`
  | `control:${string}`
  | `access:${string}`
  | `feed:${string}`
  | `left:${string}`
  | `connection:${string}`
  | 'connections'
  | 'notices'
  | 'deliveries'
  | 'tenants'
  | 'work';
