import { once } from 'node:events';
import { type Server, createServer } from 'node:http';

/** An outside service that records each effect of a tool as a line; no line can be undone. */
export class Ledger {
  readonly lines: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.lines.push(request.url?.slice(1) ?? '');
      response.end();
    });
  }

  static async open(): Promise<Ledger> {
    const ledger = new Ledger();
    ledger.#server.listen(0, '127.0.0.1');
    await once(ledger.#server, 'listening');
    return ledger;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the ledger is closed');
    return address.port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
