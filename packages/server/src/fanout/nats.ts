import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { Fanout, Topic } from '../ports/fanout.ts';
import type { Log } from '../ports/log.ts';
import { systemClock } from '../runtime/clock.ts';
import { inBackground } from '../runtime/in-background.ts';
import { within } from '../runtime/within.ts';
import { WakeUpQueue } from './wake-up-queue.ts';
import { Subscribers } from './subscribers.ts';

export interface NatsFanoutOptions {
  /** One address, or several with commas. */
  readonly url: string;
  /** Prefix of the subjects of this service: several services may share one NATS. */
  readonly namespace: string;
  readonly log: Log;
  /** Called every few seconds with the round-trip time to the NATS server. */
  readonly onLag?: (seconds: number) => void;
}

/** By default the library gives up after twenty seconds and notices a network partition after four minutes. */
const connectionOptions: ConnectionOptions = {
  maxReconnectAttempts: -1,
  waitOnFirstConnect: true,
  reconnectTimeWait: 250,
  pingInterval: 5_000,
  maxPingOut: 2,
  noEcho: true,
  name: 'convoke',
};

const everything = 'everything';

const pingEveryMs = 5_000;

/** How long a start waits for NATS. It then continues without: wake-ups only save readers from polling. */
const startTimeoutMs = 2_000;

/** Wake-ups over NATS: one subject per topic, so that a server receives only the topics it follows. */
export async function openNatsFanout(options: NatsFanoutOptions): Promise<Fanout> {
  const { connect } = await import('@nats-io/transport-node');
  const connecting = connect({ ...connectionOptions, servers: options.url.split(',') });
  const fanout = new NatsFanout(options, connecting);
  await fanout.connected(startTimeoutMs);
  return fanout;
}

class NatsFanout implements Fanout {
  readonly lossless = false;
  readonly #options: NatsFanoutOptions;
  readonly #subscribers = new Subscribers((topic) => this.#follow(topic));
  readonly #connecting: Promise<NatsConnection>;
  readonly #queue = new WakeUpQueue({
    send: async (topics) => this.#send(topics),
    onFailure: (error) => this.#options.log.warn('wake-up not sent', { reason: String(error) }),
  });
  #connection: NatsConnection | undefined;
  /** Checked before publishing: while disconnected, the library would buffer every message. */
  #isUp = false;
  #isClosed = false;

  constructor(options: NatsFanoutOptions, connecting: Promise<NatsConnection>) {
    this.#options = options;
    this.#connecting = connecting;
    connecting.then(
      (connection) => this.#begin(connection),
      (error: unknown) =>
        options.log.error('NATS refused the connection; polling every second', error),
    );
  }

  async connected(withinMs: number): Promise<void> {
    const connecting = this.#connecting.catch(() => undefined);
    await within({ clock: systemClock, ms: withinMs, late: undefined }, connecting);
  }

  wake(topic: Topic): void {
    this.#subscribers.wake(topic);
    if (this.#isUp) this.#queue.add(topic);
  }

  subscribe(topic: Topic, onWake: () => void): () => void {
    return this.#subscribers.add(topic, onWake);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isUp = false;
    this.#subscribers.clear();
    await this.#connection?.close();
  }

  #begin(connection: NatsConnection): void {
    if (this.#isClosed) return inBackground(connection.close());
    this.#connection = connection;
    this.#subscribers.announce();
    connection.subscribe(this.#subject(everything), {
      callback: () => this.#subscribers.wakeAll(),
    });
    this.#catchUp();
    inBackground(this.#watch(connection));
    this.#measureLag(connection);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#isUp = false;
        this.#options.log.warn('fan-out disconnected; polling every second');
      } else if (type === 'reconnect') {
        this.#options.log.info('fan-out reconnected');
        this.#catchUp();
      }
    }
  }

  #measureLag(connection: NatsConnection): void {
    setTimeout(() => {
      if (this.#isClosed) return;
      connection
        .rtt()
        .then((ms) => this.#options.onLag?.(ms / 1000))
        // Without a connection there is nothing to measure; `#watch` logs its loss.
        .catch(() => undefined)
        .finally(() => this.#measureLag(connection));
    }, pingEveryMs).unref();
  }

  /** Makes up for the time without a connection: wakes all subscribers here and on the other servers. */
  #catchUp(): void {
    this.#isUp = true;
    this.#subscribers.wakeAll();
    this.#queue.addEverything();
  }

  /** The library subscribes again on its own after every reconnect. */
  #follow(topic: Topic): (() => void) | undefined {
    const subscription = this.#connection?.subscribe(this.#subject(topic), {
      callback: () => this.#subscribers.wake(topic),
    });
    return subscription && (() => subscription.unsubscribe());
  }

  #send(topics: readonly Topic[] | 'everything'): void {
    if (!this.#isUp) return;
    const sent = topics === 'everything' ? ([everything] as const) : topics;
    for (const topic of sent) {
      this.#connection?.publish(this.#subject(topic));
    }
  }

  #subject(topic: Topic | typeof everything): string {
    return `convoke.${this.#options.namespace}.${topic.replace(':', '.')}`;
  }
}
