import type { ServerResponse } from 'node:http';
import { refuse } from '../../app/refusal.ts';
import type { Clock } from '../../ports/clock.ts';
import { type JsonAnswer, renderJson } from '../json-reply.ts';
import { sendParts } from './send-parts.ts';

/**
 * Bytes of answers that their readers have not taken yet: of one process, of one organization in it, and of one client
 * or person. Above any of them, a read is refused with Retry-After (D-277).
 */
export interface AnswerCaps {
  readonly inAll: number;
  readonly perOrganization: number;
  readonly perClient: number;
}

const mebibyte = 1024 * 1024;
const defaultCaps: AnswerCaps = {
  inAll: 256 * mebibyte,
  perOrganization: 64 * mebibyte,
  perClient: 32 * mebibyte,
};

/** A smaller answer leaves with one write and is not counted. */
const smallBytes = 16 * 1024;
const partBytes = 256 * 1024;

export interface AnswerOptions {
  readonly clock: Clock;
  /** `defaultCaps` when absent. */
  readonly caps?: AnswerCaps | undefined;
}

type Caller = { readonly subject: string; readonly organizationId?: string } | undefined;

interface Sending {
  readonly caller: Caller;
  readonly headers: Readonly<Record<string, string>>;
  /** An answer that reports a change is never refused: the change has happened. */
  readonly isRead: boolean;
}

/** Sends JSON answers, and bounds the memory that readers hold which do not read. */
export class AnswersUnderWay {
  readonly #clock: Clock;
  readonly #caps: AnswerCaps;
  readonly #bytes = new Map<string, number>();

  constructor({ clock, caps = defaultCaps }: AnswerOptions) {
    this.#clock = clock;
    this.#caps = caps;
  }

  /** Refuses a read while earlier answers to the same caller take up its share. */
  admit(caller: Caller): void {
    if (!this.#hasRoom(caller, 1)) refuseRead();
  }

  /** Writes a whole answer. Returns a promise of its last byte where that takes longer. */
  write(response: ServerResponse, answer: JsonAnswer, sending: Sending): Promise<void> | undefined {
    const { caller, isRead } = sending;
    const { status, headers, payload } = renderJson(answer, sending.headers);
    if (payload.length <= smallBytes) {
      response.writeHead(status, headers).end(payload);
      return undefined;
    }
    const bytes = Buffer.from(payload);
    if (isRead && !this.#hasRoom(caller, bytes.length)) refuseRead();
    response.writeHead(status, headers);
    return this.#send(response, bytes, caller);
  }

  async #send(response: ServerResponse, bytes: Buffer, caller: Caller): Promise<void> {
    this.#add(caller, bytes.length);
    try {
      await sendParts(response, partsOf(bytes), this.#clock);
    } finally {
      this.#add(caller, -bytes.length);
    }
  }

  /** A single answer is sent whatever its size. */
  #hasRoom(caller: Caller, bytes: number): boolean {
    return this.#shares(caller).every(([key, cap]) => {
      const underWay = this.#bytes.get(key) ?? 0;
      return underWay === 0 || underWay + bytes <= cap;
    });
  }

  #add(caller: Caller, bytes: number): void {
    for (const [key] of this.#shares(caller)) {
      const underWay = (this.#bytes.get(key) ?? 0) + bytes;
      if (underWay > 0) this.#bytes.set(key, underWay);
      else this.#bytes.delete(key);
    }
  }

  #shares(caller: Caller): readonly (readonly [key: string, cap: number])[] {
    const { inAll, perOrganization, perClient } = this.#caps;
    // What anyone may ask for is small, or the same bytes for all.
    if (caller === undefined) return [];
    const { subject, organizationId = '' } = caller;
    return [
      ['', inAll],
      [`organization ${organizationId}`, perOrganization],
      [`client ${subject}`, perClient],
    ];
  }
}

function* partsOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += partBytes) {
    yield bytes.subarray(from, from + partBytes);
  }
}

function refuseRead(): never {
  return refuse('rate_limited', {
    message: 'Earlier answers to this client have not been read yet.',
    retryAfterSeconds: 5,
  });
}
