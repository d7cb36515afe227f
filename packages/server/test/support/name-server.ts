import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { atFileEnd } from '../../../../test/runner/file-end.ts';

export interface NameServer {
  /** As a resolver takes it: `address:port`. */
  readonly address: string;
  /** Names that were asked for, once for each packet. */
  readonly asked: readonly string[];
}

const headerBytes = 12;
const typeA = 1;

/**
 * A name server on this machine. It knows the IPv4 addresses of `names`, says of others that they do not exist, and
 * never answers for a name below `.slow.example`.
 */
export async function startNameServer(names: Record<string, string>): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, end } = questionIn(query);
    asked.push(name);
    if (name.endsWith('.slow.example')) return;
    const found = names[name];
    const isHere = found !== undefined && query.readUInt16BE(end - 4) === typeA;
    const header = Buffer.from(query.subarray(0, headerBytes));
    // A response; without the name, its code is NXDOMAIN.
    header.writeUInt16BE(found === undefined ? 0x81_83 : 0x81_80, 2);
    header.writeUInt16BE(isHere ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const question = query.subarray(headerBytes, end);
    socket.send(
      Buffer.concat([header, question, isHere ? answerOf(found) : ''].map(bytes)),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  atFileEnd(() => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

function bytes(part: Buffer | string): Buffer {
  return Buffer.from(part);
}

function questionIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

/** The name of the question (a pointer to it), type A, class IN, a minute, four bytes. */
function answerOf(address: string): Buffer {
  return Buffer.from([
    0xc0,
    headerBytes,
    0,
    typeA,
    0,
    1,
    0,
    0,
    0,
    60,
    0,
    4,
    ...address.split('.').map(Number),
  ]);
}
