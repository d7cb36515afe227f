import { randomUUID } from 'node:crypto';
import { printable } from '@convoke/faces/printable';
import { type Convoke, ConvokeError } from '@convoke/sdk';
import { remark } from '../../terminal/output.ts';
import { Interruption, patiently } from '../patience.ts';
import { framesOf } from './frames.ts';
import {
  type Message,
  fieldsOf,
  isFirstRound,
  messageIn,
  ownHeaders,
  versionIn,
} from './messages.ts';

export interface BridgeParts {
  /** Sends a request with the token and the tenant of the login. */
  readonly fetch: Convoke['fetch'];
  /** The MCP address of the tenant. */
  readonly url: string;
  /** Writes a message for the client, in one line. */
  readonly write: (line: string) => void;
}

/**
 * Passes the messages of one client on to the server, and its answers back (D-624). A server that restarts, a
 * connection that breaks and a new token are not seen by the client: calls are sent again under a key, or continued.
 */
export class Bridge {
  readonly #parts: BridgeParts;
  /** Controllers that end the wait for an answer, by the id of its request. */
  readonly #open = new Map<string | number, AbortController>();
  /** The server's answer to `initialize`. */
  #clientId: string | undefined;
  #version: string | undefined;

  constructor(parts: BridgeParts) {
    this.#parts = parts;
  }

  /** Takes a line of the client. Resolves when the answer is written. */
  async take(line: string): Promise<void> {
    if (line.trim() === '') return;
    const message = messageIn(line);
    if (message === undefined) return remark('convoke: a line is not a JSON-RPC message');
    const { id, method, params } = message;
    if (method === 'notifications/cancelled') return this.#cancel(params?.['requestId']);
    const closing = new AbortController();
    const isRequest = id !== undefined && method !== undefined;
    if (isRequest) this.#open.set(id, closing);
    try {
      await this.#send(line, message, closing.signal);
    } catch (error) {
      if (!closing.signal.aborted) this.#fail(error, isRequest ? id : undefined);
    } finally {
      if (isRequest) this.#open.delete(id);
    }
  }

  close(): void {
    for (const closing of this.#open.values()) closing.abort();
  }

  /** The server ends its waiting when the connection closes; the run continues. */
  #cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#open.get(id)?.abort();
  }

  #fail(error: unknown, id: string | number | undefined): void {
    const message = error instanceof Error ? error.message : String(error);
    if (id === undefined) return remark(printable(`convoke: ${message}`));
    this.#parts.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } }));
  }

  async #send(body: string, message: Message, signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...this.#headersFor(message),
      ...(isFirstRound(message) && { 'idempotency-key': randomUUID() }),
    };
    let lastId: string | undefined;
    await patiently(async () => {
      const response =
        lastId === undefined
          ? await this.#request({ method: 'POST', headers, body, signal })
          : await this.#request({
              method: 'GET',
              headers: { ...this.#headersFor(message), 'last-event-id': lastId },
              signal,
            });
      await this.#pass(response, message, (id) => {
        lastId = id;
      });
    }, signal);
  }

  #headersFor(message: Message): Record<string, string> {
    if (message.method === 'initialize') return {};
    if (versionIn(message) !== undefined) return ownHeaders(message);
    return {
      ...(this.#clientId !== undefined && { 'mcp-session-id': this.#clientId }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
    };
  }

  async #request(init: RequestInit): Promise<Response> {
    const { fetch, url } = this.#parts;
    const response = await fetch(url, init).catch(interrupted);
    if (response.status !== 429 && response.status < 500) return response;
    await response.body?.cancel();
    throw new Interruption(`the server answered ${response.status}`);
  }

  /** Writes the answer of the server. Throws if it is not complete. */
  async #pass(response: Response, message: Message, noteId: (id: string) => void): Promise<void> {
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream') || response.body === null) {
      return this.#passWhole(await response.text().catch(interrupted), response, message);
    }
    try {
      for await (const { id, data } of framesOf(response.body)) {
        if (id !== undefined) noteId(id);
        if (data === '') continue;
        this.#parts.write(data);
        const { id: of, method } = messageIn(data) ?? {};
        if (of === message.id && method === undefined) return;
      }
    } catch (error) {
      interrupted(error);
    }
    throw new Interruption('the stream ended before the answer');
  }

  #passWhole(text: string, response: Response, message: Message): void {
    if (text === '') return;
    const answer = fieldsOf(messageIn(text));
    if (answer['jsonrpc'] === undefined) {
      const { error = response.statusText, message: said = '' } = answer;
      throw new Error(`${String(said)} (${String(error)})`.trim());
    }
    if (message.method === 'initialize') {
      this.#clientId = response.headers.get('mcp-session-id') ?? undefined;
      const { protocolVersion } = fieldsOf(answer['result']);
      this.#version = typeof protocolVersion === 'string' ? protocolVersion : undefined;
    }
    this.#parts.write(text);
  }
}

/** Errors that the server did not send are those of the network. */
function interrupted(error: unknown): never {
  if (error instanceof ConvokeError) throw error;
  throw new Interruption('the connection broke', { cause: error });
}
