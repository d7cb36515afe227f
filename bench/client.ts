import { Agent, type IncomingMessage, request } from 'node:http';
import { Frames, type FramesSeen } from './frames.ts';

/** A server as the load generator reaches it. */
export interface Address {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FollowedRun extends FramesSeen {
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface FollowOptions {
  /** Reads every frame instead of counting: for few readers, or when it is behaviour that is looked at. */
  readonly strict?: boolean;
  readonly onOpen?: () => void;
  readonly signal?: AbortSignal;
}

export interface TextOptions extends Pick<FollowOptions, 'onOpen' | 'signal'> {
  readonly body?: unknown;
}

export interface StreamEvent {
  readonly type: string;
  readonly created_at: string;
}

const timeoutMs = 60_000;

/** Raw node:http on kept connections. Nothing here waits without a bound. */
export class Client {
  readonly #address: Address;
  readonly #agent: Agent;
  readonly #host: string;
  readonly #port: number;

  constructor(address: Address, connections: number) {
    const url = new URL(address.baseUrl);
    if (url.hostname !== '127.0.0.1') throw new Error('the benchmark loads this machine only');
    this.#address = address;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'lifo' });
    this.#host = url.hostname;
    this.#port = Number(url.port);
  }

  async post(path: string, body: unknown): Promise<Answer> {
    return this.#json(await this.#send('POST', path, { body: JSON.stringify(body) }));
  }

  async put(path: string, body: unknown): Promise<Answer> {
    return this.#json(await this.#send('PUT', path, { body: JSON.stringify(body) }));
  }

  async get(path: string): Promise<Answer> {
    return this.#json(await this.#send('GET', path, {}));
  }

  /** Reads a stream to its end. */
  async follow(path: string, options: FollowOptions = {}): Promise<FollowedRun> {
    const response = await this.#send('GET', path, {
      accept: 'text/event-stream',
      ...(options.signal && { signal: options.signal }),
    });
    if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`);
    const frames = new Frames(options.strict ?? false);
    let firstAt = 0;
    let lastAt = 0;
    options.onOpen?.();
    return new Promise((resolve, reject) => {
      response.on('data', (chunk: Buffer) => {
        frames.take(chunk);
        lastAt = performance.now();
        if (firstAt === 0 && frames.count > 0) firstAt = lastAt;
      });
      response.once('end', () => resolve({ ...frames.seen(), firstAt, lastAt }));
      response.once('error', reject);
    });
  }

  /** The whole text of a stream, of one that a body asks for or of one that is read. */
  async text(path: string, options: TextOptions = {}): Promise<string> {
    const { body, onOpen, signal } = options;
    const response = await this.#send(body === undefined ? 'GET' : 'POST', path, {
      accept: body === undefined ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`);
    onOpen?.();
    let text = '';
    response.setEncoding('utf8');
    for await (const part of response) text += String(part);
    return text;
  }

  /** Reads a stream to its end, and gives each event away as it comes. */
  async read(path: string, take: (event: StreamEvent) => void): Promise<void> {
    const response = await this.#send('GET', path, { accept: 'text/event-stream' });
    let rest = '';
    response.setEncoding('utf8');
    for await (const chunk of response) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data: ')) take(JSON.parse(line.slice(6)) as StreamEvent);
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(
    method: string,
    path: string,
    { body, accept, signal }: { body?: string; accept?: string; signal?: AbortSignal },
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: this.#host,
          port: this.#port,
          agent: this.#agent,
          method,
          path,
          timeout: timeoutMs,
          ...(signal && { signal }),
          headers: {
            ...this.#address.headers,
            ...(accept !== undefined && { accept }),
            ...(body !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
            }),
          },
        },
        resolve,
      );
      outgoing.once('timeout', () => outgoing.destroy(new Error(`${path}: no sign of life`)));
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  }

  #json(response: IncomingMessage): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: JSON.parse(text) as Answer['body'],
        }),
      );
      response.once('error', reject);
    });
  }
}
