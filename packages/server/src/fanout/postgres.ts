import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import type { Fanout, Topic } from '../ports/fanout.ts';
import type { Log } from '../ports/log.ts';
import { inBackground } from '../runtime/in-background.ts';
import { WakeUpQueue } from './wake-up-queue.ts';
import { Subscribers } from './subscribers.ts';

const channel = 'convoke_wakeups';
/** PostgreSQL carries at most 8,000 bytes in one notification. */
const messageMaxBytes = 7_900;
const everything = '*';
/** Self-addressed ping that measures the round-trip time of wake-ups. */
const echo = '~';

const answerTimeoutMs = 5_000;
/** A ping that gets no answer reveals a connection that died without closing. */
const pingEveryMs = 5_000;
/** Every server pings, and all hear it: when no other was heard for this long, there is none to wake. */
const aloneAfterMs = 3 * pingEveryMs;
const firstRetryMs = 50;
const retryMaxMs = 1_000;

export interface PostgresFanoutOptions {
  readonly url: string;
  readonly log: Log;
  /** Called every few seconds with the round-trip time of a wake-up, in seconds. */
  readonly onLag?: (seconds: number) => void;
  /** Monotonic time in milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * Wake-ups by LISTEN/NOTIFY, on a connection of their own and after the commit they announce: PostgreSQL commits
 * transactions that notify one at a time.
 */
export async function openPostgresFanout(options: PostgresFanoutOptions): Promise<Fanout> {
  const fanout = new PostgresFanout(options);
  await fanout.connect();
  return fanout;
}

class PostgresFanout implements Fanout {
  readonly lossless = false;
  readonly #options: PostgresFanoutOptions;
  readonly #elapsed: () => number;
  /** Marks this server's own messages, which it ignores: its subscribers were woken when they were sent. */
  readonly #origin = randomBytes(6).toString('hex');
  readonly #subscribers = new Subscribers();
  readonly #closing = new AbortController();
  readonly #queue = new WakeUpQueue({
    send: (topics) => this.#send(topics),
    onFailure: (error) => this.#drop(error),
  });
  #client: Client | undefined;
  #pingedAt = 0;
  /** When another server was heard last; a server that connects assumes one. */
  #heardAt: number;
  #reconnecting: Promise<void> | undefined;

  constructor(options: PostgresFanoutOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#heardAt = this.#elapsed();
  }

  wake(topic: Topic): void {
    this.#subscribers.wake(topic);
    if (this.#client !== undefined && this.#hasOthers) this.#queue.add(topic);
  }

  /** A server that starts says so at once, and polls: what it was not woken for while it connected costs a second. */
  get #hasOthers(): boolean {
    return this.#elapsed() - this.#heardAt < aloneAfterMs;
  }

  subscribe(topic: Topic, onWake: () => void): () => void {
    return this.#subscribers.add(topic, onWake);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#subscribers.clear();
    await this.#reconnecting;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  /** Resolves once connected or once the first attempt has failed: the service starts without, and retries. */
  async connect(): Promise<void> {
    const client = new Client({
      connectionString: this.#options.url,
      application_name: 'convoke wake-ups',
      connectionTimeoutMillis: answerTimeoutMs,
      query_timeout: answerTimeoutMs,
      keepAlive: true,
    });
    client.on('error', (error) => this.#drop(error, client));
    client.on('end', () => this.#drop(new Error('the connection ended'), client));
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      client.end().catch(() => undefined);
      this.#retry(error);
      return;
    }
    if (this.#closing.signal.aborted) return client.end();
    this.#client = client;
    this.#heardAt = this.#elapsed();
    inBackground(this.#ping(client));
    // Makes up for the time without a connection, here and on the other servers.
    this.#subscribers.wakeAll();
    this.#queue.addEverything();
  }

  /** Drops a broken connection and reconnects. Does nothing for a connection that was dropped before. */
  #drop(error: unknown, client = this.#client): void {
    if (client === undefined || client !== this.#client) return;
    this.#client = undefined;
    client.end().catch(() => undefined);
    this.#retry(error);
  }

  #retry(error: unknown): void {
    if (this.#closing.signal.aborted || this.#reconnecting !== undefined) return;
    this.#options.log.warn('fan-out disconnected; polling every second', {
      reason: error instanceof Error ? error.message : String(error),
    });
    this.#reconnecting = this.#reconnect().finally(() => {
      this.#reconnecting = undefined;
    });
  }

  async #reconnect(): Promise<void> {
    for (
      let delay = firstRetryMs;
      this.#client === undefined;
      delay = Math.min(delay * 2, retryMaxMs)
    ) {
      const { signal } = this.#closing;
      await setTimeout(delay, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await this.connect();
    }
    this.#options.log.info('fan-out reconnected');
  }

  async #ping(client: Client): Promise<void> {
    const { signal } = this.#closing;
    while (client === this.#client && !signal.aborted) {
      await setTimeout(pingEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (client !== this.#client || signal.aborted) return;
      this.#pingedAt = performance.now();
      await this.#notify(client, [this.#message([echo])]).catch((error: unknown) =>
        this.#drop(error, client),
      );
    }
  }

  async #send(topics: readonly Topic[] | 'everything'): Promise<void> {
    const messages =
      topics === 'everything' ? [this.#message([everything])] : this.#messages(topics);
    if (this.#client !== undefined) await this.#notify(this.#client, messages);
  }

  async #notify(client: Client, messages: readonly string[]): Promise<void> {
    await client.query({
      name: 'wake',
      text: `select pg_notify('${channel}', message) from unnest($1::text[]) as message`,
      values: [messages],
    });
  }

  #messages(topics: readonly Topic[]): string[] {
    const messages: string[] = [];
    let batch: Topic[] = [];
    let size = 0;
    for (const topic of topics) {
      if (size + topic.length > messageMaxBytes) {
        messages.push(this.#message(batch));
        batch = [];
        size = 0;
      }
      batch.push(topic);
      size += topic.length + 1;
    }
    return [...messages, this.#message(batch)];
  }

  #message(topics: readonly string[]): string {
    return [this.#origin, ...topics].join(' ');
  }

  #receive(payload: string): void {
    const [origin, ...topics] = payload.split(' ');
    if (origin === this.#origin) {
      if (topics[0] === echo) this.#options.onLag?.((performance.now() - this.#pingedAt) / 1000);
      return;
    }
    this.#heardAt = this.#elapsed();
    for (const topic of topics) {
      if (topic === everything) this.#subscribers.wakeAll();
      else if (topic !== echo) this.#subscribers.wake(topic as Topic);
    }
  }
}
