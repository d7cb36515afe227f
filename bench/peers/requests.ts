import { Agent, type IncomingMessage, request } from 'node:http';

const timeoutMs = 60_000;

/** POSTs JSON on kept connections. */
export class Requests {
  readonly #agent: Agent;
  readonly #port: number;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(port: number, headers: Readonly<Record<string, string>> = {}) {
    this.#agent = new Agent({ keepAlive: true });
    this.#port = port;
    this.#headers = headers;
  }

  async json(path: string, body: unknown): Promise<unknown> {
    const response = await this.#post(path, body);
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) text += String(chunk);
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw new Error(`${path} answered ${status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Reads an answer of server-sent events to its end and returns how many there were. */
  async events(path: string, body: unknown, onFirst?: (data: string) => void): Promise<number> {
    const response = await this.#post(path, body);
    let count = 0;
    let rest = '\n';
    for await (const chunk of response) {
      const text = rest + (chunk as Buffer).toString('latin1');
      if (count === 0 && text.includes('\n\n')) onFirst?.(text);
      for (let at = text.indexOf('\ndata: '); at !== -1; at = text.indexOf('\ndata: ', at + 7)) {
        count += 1;
      }
      rest = text.slice(-6);
    }
    return count;
  }

  #post(path: string, body: unknown): Promise<IncomingMessage> {
    const text = JSON.stringify(body);
    const headers = {
      ...this.#headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    const where = { host: '127.0.0.1', port: this.#port, path, method: 'POST' };
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { ...where, agent: this.#agent, timeout: timeoutMs, headers },
        resolve,
      );
      outgoing.once('timeout', () => outgoing.destroy(new Error(`${path}: no sign of life`)));
      outgoing.once('error', reject);
      outgoing.end(text);
    });
  }
}
