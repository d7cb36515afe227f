import type { IncomingMessage } from 'node:http';
import { limits } from '@convoke/contract';
import type { Clock } from '../../ports/clock.ts';

const checkMs = 5_000;

const watches = new WeakMap<IncomingMessage, BodyWatch>();

/**
 * Closes the connection of a request whose body sends nothing for 30 s or is not complete after a minute, so that no
 * caller, least of all an anonymous one, holds connections by sending a byte now and then. It applies to every body,
 * also to one that is discarded behind a refusal. An upload may take longer, at a lowest rate.
 */
export function watchBody(message: IncomingMessage, clock: Clock): void {
  const { headers } = message;
  const length = Number(headers['content-length'] ?? 0);
  if (length === 0 && headers['transfer-encoding'] === undefined) return;
  watches.set(message, new BodyWatch(message, clock));
}

/** Gives the body of an admitted caller the time of an upload. */
export function beginUpload(message: IncomingMessage): void {
  watches.get(message)?.restart({ isUpload: true });
}

/** Gives the rest of a body that is only discarded a minute, as that of any other. */
export function endUpload(message: IncomingMessage): void {
  watches.get(message)?.restart({ isUpload: false });
}

class BodyWatch {
  readonly #message: IncomingMessage;
  readonly #clock: Clock;
  #isUpload = false;
  /** The minute that counts now, and how much of the connection had arrived when it began. */
  #minuteAt: number;
  #bytesBefore: number;
  /** What had arrived when something last did. */
  #bytesSeen: number;
  #changedAt: number;
  #cancel: () => void = () => undefined;

  constructor(message: IncomingMessage, clock: Clock) {
    this.#message = message;
    this.#clock = clock;
    this.#minuteAt = this.#changedAt = clock.now();
    this.#bytesBefore = this.#bytesSeen = message.socket.bytesRead;
    this.#schedule();
    message.once('close', () => this.#cancel());
  }

  restart({ isUpload }: { readonly isUpload: boolean }): void {
    this.#isUpload = isUpload;
    this.#minuteAt = this.#clock.now();
    this.#bytesBefore = this.#message.socket.bytesRead;
  }

  #schedule(): void {
    this.#cancel = this.#clock.after(checkMs, () => {
      if (this.#message.complete || this.#message.destroyed) return;
      if (this.#isLate()) this.#message.socket.destroy();
      else this.#schedule();
    });
  }

  #isLate(): boolean {
    const now = this.#clock.now();
    const { bytesRead } = this.#message.socket;
    // An upload that waits in this server for its storage is not late.
    const isHeldBack = this.#isUpload && this.#message.readableLength > 0;
    if (isHeldBack) this.restart({ isUpload: true });
    if (isHeldBack || bytesRead !== this.#bytesSeen) this.#changedAt = now;
    this.#bytesSeen = bytesRead;
    if (now - this.#changedAt >= limits.bodySilenceMaxMs) return true;
    if (now - this.#minuteAt < limits.bodyMaxMs) return false;
    if (!this.#isUpload || bytesRead - this.#bytesBefore < limits.uploadMinBytesPerMinute)
      return true;
    this.restart({ isUpload: true });
    return false;
  }
}
