/**
 * Counts what a server asks of its database, below every driver: statements of `node:sqlite`, and the messages that the
 * process writes to PostgreSQL's port. The same in every server that is measured.
 */
import { Socket } from 'node:net';
import { StatementSync } from 'node:sqlite';

export interface Counts {
  readonly statements: number;
  /** PostgreSQL only: how often the process waited for an answer after it had written something. */
  readonly roundTrips: number;
}

const counts = { statements: 0, roundTrips: 0 };

export function countsSoFar(): Counts {
  return { ...counts };
}

export function countStatements(): void {
  for (const name of ['run', 'get', 'all']) {
    before(StatementSync.prototype, name, () => {
      counts.statements += 1;
    });
  }
}

/** Sockets that have written and not yet read. */
const asking = new WeakSet<Socket>();

export function countMessages(port: number): void {
  before(Socket.prototype, 'write', (socket: Socket, chunk) => {
    if (socket.remotePort !== port || !(chunk instanceof Uint8Array)) return;
    counts.statements += statementsIn(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    asking.add(socket);
  });
  before(Socket.prototype, 'push', (socket: Socket) => {
    if (asking.delete(socket)) counts.roundTrips += 1;
  });
}

type Method<T> = (this: T, ...args: unknown[]) => unknown;

/**
 * Has every call of a method counted before it happens. `arguments` goes on as it is: a list of its own for each call
 * would take half as long as a short statement.
 */
function before<T extends object>(
  prototype: T,
  name: string,
  count: (on: T, first: unknown) => void,
): void {
  const original = Reflect.get(prototype, name) as Method<T>;
  const counted: Method<T> = function () {
    count(this, arguments[0]);
    return Reflect.apply(original, this, arguments);
  };
  Reflect.set(prototype, name, counted);
}

const headBytes = 5;
const simpleQuery = 'Q'.charCodeAt(0);
const execute = 'E'.charCodeAt(0);

/** Each write of `pg` is one or more whole messages: a type, a length that includes itself, a body. */
function statementsIn(bytes: Buffer): number {
  let found = 0;
  for (let at = 0; at + headBytes <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    if (bytes[at] === execute) found += 1;
    if (bytes[at] === simpleQuery) {
      const text = bytes.toString('utf8', at + headBytes, at + bytes.readInt32BE(at + 1));
      found += text.split(';').filter((part) => part.trim() !== '').length;
    }
  }
  return found;
}
