import { connect } from 'node:net';
import { type Caller, type RunAt, runPath } from './caller.ts';
import { ResponseBytes } from './response-bytes.ts';

/** One event as it came over the wire, from `id:` to the empty line. */
export interface Frame {
  readonly id: string;
  readonly text: string;
}

export interface Reading {
  readonly port: number;
  readonly caller: Caller;
  readonly at: RunAt;
  readonly lastEventId?: string | undefined;
  /** Destroys the connection after this many bytes, headers and chunk framing counted. */
  readonly cutAfterBytes?: number | undefined;
  /** Destroys the connection when this event has come. */
  readonly untilId?: string | undefined;
  /** Sends the request, then reads nothing until this resolves. */
  readonly stallUntil?: Promise<unknown> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onFrame?: (frame: Frame) => void;
}

export interface Read {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly frames: readonly Frame[];
  /** `retry:` lines and comments, in order. */
  readonly asides: readonly string[];
  /** Bytes after the last complete frame. */
  readonly rest: Buffer;
  /** `ended`: the server finished the response. `cut`: by us. `lost`: the connection went away. */
  readonly how: 'ended' | 'cut' | 'lost';
}

/** One connection to the events of a run, over a raw socket. Never rejects: a lost connection is a result. */
function readEvents(reading: Reading): Promise<Read> {
  return new Promise((resolve) => {
    const response = new ResponseBytes();
    const frames: Frame[] = [];
    const asides: string[] = [];
    let rest: Buffer = Buffer.alloc(0);
    let received = 0;
    const socket = connect({ host: '127.0.0.1', port: reading.port });
    const finish = (how: Read['how']) => {
      reading.signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      const { status, headers } = response;
      resolve({ status, headers, frames, asides, rest, how });
    };
    const onAbort = () => finish('cut');
    const isEnough = () => reading.untilId !== undefined && frames.at(-1)?.id === reading.untilId;
    reading.signal?.addEventListener('abort', onAbort, { once: true });
    socket.on('connect', () => {
      if (reading.cutAfterBytes === 0) return finish('cut');
      socket.write(requestBytes(reading));
    });
    if (reading.stallUntil !== undefined) {
      void reading.stallUntil.then(() => socket.resume());
    }
    socket.on('data', (chunk: Buffer) => {
      const left = (reading.cutAfterBytes ?? Infinity) - received;
      const taken = chunk.subarray(0, Math.min(chunk.length, left));
      received += taken.length;
      const body = response.push(taken);
      rest = takeFrames(rest.length === 0 ? body : Buffer.concat([rest, body]), (text) => {
        const frame = frameOf(text);
        if (frame === undefined) asides.push(text);
        else {
          frames.push(frame);
          reading.onFrame?.(frame);
        }
        return isEnough();
      });
      if (isEnough()) {
        rest = Buffer.alloc(0);
        finish('cut');
      } else if (response.isComplete) finish('ended');
      else if (received >= (reading.cutAfterBytes ?? Infinity)) finish('cut');
    });
    if (reading.stallUntil !== undefined) socket.pause();
    socket.on('error', () => finish('lost'));
    socket.on('close', () => finish('lost'));
  });
}

function requestBytes({ caller, at, lastEventId, port }: Reading): string {
  const headers = {
    host: `127.0.0.1:${port}`,
    accept: 'text/event-stream',
    ...caller.headers,
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${runPath(at)}/events HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Passes complete frames to `give` until it returns true; returns the bytes after them. */
function takeFrames(bytes: Buffer, give: (text: string) => boolean): Buffer {
  let from = 0;
  for (let end = bytes.indexOf('\n\n'); end !== -1; end = bytes.indexOf('\n\n', from)) {
    const text = strictUtf8.decode(bytes.subarray(from, end + 2));
    from = end + 2;
    if (give(text)) break;
  }
  return bytes.subarray(from);
}

/** The first frame of a connection has one line more, `retry`, which is not of the event. */
function frameOf(sent: string): Frame | undefined {
  const text = sent.replace(/^retry: \d+\n/, '');
  const id = /^id: (.*)$/m.exec(text)?.[1];
  return id === undefined ? undefined : { id, text };
}

type Manner = Partial<
  Pick<Reading, 'port' | 'signal' | 'cutAfterBytes' | 'untilId' | 'stallUntil'>
>;

/** Follows one run over any number of connections, and remembers what it got. */
export class RawEventReader {
  readonly frames: Frame[] = [];
  connections = 0;
  readonly #reading: Omit<Reading, 'lastEventId' | 'onFrame'>;

  /** `port` is the default for reads that do not name a server. */
  constructor(reading: Pick<Reading, 'port' | 'caller' | 'at' | 'signal'>) {
    this.#reading = reading;
  }

  /** Connects where it left off: the id of the last complete frame. */
  async read(how: Manner = {}): Promise<Read> {
    this.connections += 1;
    return readEvents({
      ...this.#reading,
      ...how,
      lastEventId: this.frames.at(-1)?.id,
      onFrame: (frame) => this.frames.push(frame),
    });
  }
}
