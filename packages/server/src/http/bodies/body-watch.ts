import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '@convoke/contract';
import type { Clock } from '../../ports/clock.ts';

const checkMs = 5_000;

const watches = new WeakMap<Socket, BodyWatch>();

/**
 * Closes the connection of a request whose body sends nothing for 30 s or is not complete after a minute, so that no
 * caller, least of all an anonymous one, holds connections by sending a byte now and then. It applies to every body,
 * also to one that is discarded after a refusal. An upload may take longer, at a lowest rate.
 *
 * A connection has one watch for all its requests, and one timer serves all connections: whatever a long-lived object
 * refers to for each request would keep the objects of that request out of the young generation.
 */
export function watchBodies(server: Server, clock: Clock): void {
  const open = new Set<BodyWatch>();
  const check = (): void => {
    for (const watch of open) watch.check();
    if (open.size > 0) clock.after(checkMs, check);
  };
  server.on('connection', (socket: Socket) => {
    const watch = new BodyWatch(socket, clock);
    watches.set(socket, watch);
    open.add(watch);
    socket.once('close', () => open.delete(watch));
    if (open.size === 1) clock.after(checkMs, check);
  });
  // First: also a body that no route reads is bounded.
  server.prependListener('request', (message: IncomingMessage) => {
    const { headers, socket } = message;
    const length = Number(headers['content-length'] ?? 0);
    if (length === 0 && headers['transfer-encoding'] === undefined) return;
    watches.get(socket)?.begin(message);
  });
}

/** Gives the body of an admitted caller the time of an upload. */
export function beginUpload({ socket }: IncomingMessage): void {
  watches.get(socket)?.restart({ isUpload: true });
}

/** Gives the rest of a body that is only discarded a minute, as that of any other. */
export function endUpload({ socket }: IncomingMessage): void {
  watches.get(socket)?.restart({ isUpload: false });
}

/** Watches the body that a connection sends now: a request is parsed after the body of the one before is complete. */
class BodyWatch {
  readonly #socket: Socket;
  readonly #clock: Clock;
  #message: IncomingMessage | undefined;
  #isUpload = false;
  /** The minute that counts now, and how much of the connection had arrived when it began. */
  #minuteAt = 0;
  #bytesBefore = 0;
  /** What had arrived when something last did. */
  #bytesSeen = 0;
  #changedAt = 0;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  begin(message: IncomingMessage): void {
    this.#message = message;
    this.#changedAt = this.#clock.now();
    this.#bytesSeen = this.#socket.bytesRead;
    this.restart({ isUpload: false });
  }

  restart({ isUpload }: { readonly isUpload: boolean }): void {
    this.#isUpload = isUpload;
    this.#minuteAt = this.#clock.now();
    this.#bytesBefore = this.#socket.bytesRead;
  }

  check(): void {
    if (this.#message === undefined) return;
    if (this.#message.complete || this.#message.destroyed) this.#message = undefined;
    else if (this.#isLate(this.#message)) this.#socket.destroy();
  }

  #isLate(message: IncomingMessage): boolean {
    const now = this.#clock.now();
    const { bytesRead } = this.#socket;
    // An upload that waits in this server for its storage is not late.
    const isHeldBack = this.#isUpload && message.readableLength > 0;
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
