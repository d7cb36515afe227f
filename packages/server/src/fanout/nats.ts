import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { Fanout, Topic } from '../ports/fanout.ts';
import type { Log } from '../ports/log.ts';
import { Listeners } from './listeners.ts';
import { Outbox } from './outbox.ts';

export interface NatsFanoutOptions {
  /** One address, or several with commas. */
  readonly url: string;
  /** What this service's subjects start with: several services may share one NATS. */
  readonly namespace: string;
  readonly log: Log;
  /** Told now and then how long a wake-up would take to get to the server and back, in seconds. */
  readonly onLag?: (seconds: number) => void;
}

/** The library's defaults give up after twenty seconds, and notice a silent partition after four minutes. */
const staying: ConnectionOptions = {
  maxReconnectAttempts: -1,
  waitOnFirstConnect: true,
  reconnectTimeWait: 250,
  pingInterval: 5_000,
  maxPingOut: 2,
  noEcho: true,
  name: 'convoke',
};

const everything = 'everything';

const askEveryMs = 5_000;

/** How long a start waits for NATS before it goes on without: it is only ever a hint. */
const patienceMs = 2_000;

/** Wake-ups over NATS: a subject per topic, so that a server hears only of what it follows. */
export async function openNatsFanout(options: NatsFanoutOptions): Promise<Fanout> {
  const { connect } = await import('@nats-io/transport-node');
  const connecting = connect({ ...staying, servers: options.url.split(',') });
  const fanout = new NatsFanout(options, connecting);
  await fanout.connected(patienceMs);
  return fanout;
}

class NatsFanout implements Fanout {
  readonly lossless = false;
  readonly #options: NatsFanoutOptions;
  readonly #listeners = new Listeners((topic) => this.#follow(topic));
  readonly #connecting: Promise<NatsConnection>;
  readonly #outbox = new Outbox({
    send: async (topics) => this.#send(topics),
    onFailure: (error) =>
      this.#options.log.warn('a wake-up was not sent', { reason: String(error) }),
  });
  #connection: NatsConnection | undefined;
  /** The library would keep what is published while it has no server, for as long as that lasts. */
  #isUp = false;
  #isClosed = false;

  constructor(options: NatsFanoutOptions, connecting: Promise<NatsConnection>) {
    this.#options = options;
    this.#connecting = connecting;
    connecting.then(
      (connection) => this.#begin(connection),
      (error: unknown) =>
        options.log.error(
          'NATS refuses this server; readers look by themselves every second',
          error,
        ),
    );
  }

  async connected(withinMs: number): Promise<void> {
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, withinMs);
    await Promise.race([this.#connecting.catch(() => undefined), patience.promise]);
    clearTimeout(timer);
  }

  wake(topic: Topic): void {
    this.#listeners.wake(topic);
    if (this.#isUp) this.#outbox.add(topic);
  }

  subscribe(topic: Topic, onWake: () => void): () => void {
    return this.#listeners.add(topic, onWake);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isUp = false;
    this.#listeners.clear();
    await this.#connection?.close();
  }

  #begin(connection: NatsConnection): void {
    if (this.#isClosed) return void connection.close();
    this.#connection = connection;
    this.#listeners.announce();
    connection.subscribe(this.#subject(everything), { callback: () => this.#listeners.wakeAll() });
    this.#catchUp();
    void this.#watch(connection);
    this.#ask(connection);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#isUp = false;
        this.#options.log.warn('wake-ups are away; readers look by themselves every second');
      } else if (type === 'reconnect') {
        this.#options.log.info('wake-ups are back');
        this.#catchUp();
      }
    }
  }

  #ask(connection: NatsConnection): void {
    setTimeout(() => {
      if (this.#isClosed) return;
      connection
        .rtt()
        .then((ms) => this.#options.onLag?.(ms / 1000))
        // Without a connection there is nothing to measure; its loss is told elsewhere.
        .catch(() => undefined)
        .finally(() => this.#ask(connection));
    }, askEveryMs).unref();
  }

  /** Both ways: what others said meanwhile, and what this server could not say. */
  #catchUp(): void {
    this.#isUp = true;
    this.#listeners.wakeAll();
    this.#outbox.addEverything();
  }

  /** The library asks the server again for what is followed, after every reconnect. */
  #follow(topic: Topic): (() => void) | undefined {
    const subscription = this.#connection?.subscribe(this.#subject(topic), {
      callback: () => this.#listeners.wake(topic),
    });
    return subscription && (() => subscription.unsubscribe());
  }

  #send(topics: readonly Topic[] | 'everything'): void {
    if (!this.#isUp) return;
    const said = topics === 'everything' ? ([everything] as const) : topics;
    for (const topic of said) {
      this.#connection?.publish(this.#subject(topic));
    }
  }

  #subject(topic: Topic | typeof everything): string {
    return `convoke.${this.#options.namespace}.${topic.replace(':', '.')}`;
  }
}
