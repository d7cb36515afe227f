import type { JsonObject } from '@convoke/contract';
import { inBackground } from '../../../runtime/in-background.ts';
import { ownFrames } from '../stream.ts';
import type { StreamReader } from '../../streams/event-streams.ts';
import type { RpcId } from './failure.ts';
import { type StreamPlace, eventIdOf } from './stream-place.ts';

/** Makes a place when it is written: a stream is open for long. */
export interface StreamPlaces {
  /** Undefined for a stream that cannot be resumed. */
  placeWith(asked?: string): StreamPlace | undefined;
}

export interface StreamedAsk {
  /** Of the request, which the client repeats in its response. */
  readonly id: string;
  readonly key: string;
  readonly params: JsonObject;
}

/**
 * The stream of one call: what it asks the client until its response. Messages go into the socket's buffer:
 * their number is that of the answers of people, and progress waits until the client has read.
 */
export class CallStream {
  readonly #take: StreamReader['take'];
  readonly #places: StreamPlaces;
  #busy: Promise<unknown> | undefined;

  /** With a place, the client can resume: it gets the id of one as an empty event. */
  constructor(take: StreamReader['take'], places: StreamPlaces) {
    this.#take = take;
    this.#places = places;
    const place = places.placeWith();
    if (place !== undefined) this.#write(`id: ${eventIdOf(place)}\ndata: \n\n`);
  }

  ask({ id, key, params }: StreamedAsk): void {
    const place = this.#places.placeWith(key);
    const at = place === undefined ? '' : `id: ${eventIdOf(place)}\n`;
    const request = { jsonrpc: '2.0', id, method: 'elicitation/create', params };
    this.#write(`${at}${frameOf(request)}`);
  }

  withdraw(requestId: string): void {
    const params = { requestId, reason: 'The request was answered.' };
    this.#write(frameOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
  }

  tell(progressToken: RpcId, progress: number): void {
    if (this.#busy !== undefined) return;
    const params = { progressToken, progress, message: 'the agent is working' };
    this.#write(frameOf({ jsonrpc: '2.0', method: 'notifications/progress', params }));
  }

  /** Resolves when the client has room for it. */
  async end(response: object): Promise<void> {
    await this.#take(ownFrames(frameOf(response), true));
  }

  #write(text: string): void {
    const busy = this.#take(ownFrames(text, false));
    if (busy === undefined) return;
    this.#busy = busy;
    inBackground(
      busy.finally(() => {
        if (this.#busy === busy) this.#busy = undefined;
      }),
    );
  }
}

function frameOf(message: object): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}
