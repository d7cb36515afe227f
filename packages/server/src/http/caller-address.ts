import type { IncomingMessage } from 'node:http';
import { type BlockList, SocketAddress, isIP } from 'node:net';

/** Where a request came from, for limits and audit. */
export type CallerAddress = (request: Asked) => string;

interface Asked {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
  readonly headers: IncomingMessage['headers'];
}

/**
 * The peer's address; or, where the peer is a trusted proxy, the one it was called from. `X-Forwarded-For` is read from
 * the right, since each proxy adds to its end and whatever stands before a hop we do not trust may be invented.
 */
export function callerAddressBehind(trusted: BlockList): CallerAddress {
  const trustsAny = trusted.rules.length > 0;
  const isTrusted = (address: string) =>
    trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return ({ socket, headers }) => {
    const peer = readAddress(socket.remoteAddress ?? '') ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (!trustsAny || typeof forwarded !== 'string' || peer === '') return peer;
    if (!isTrusted(peer)) return peer;
    let nearest = peer;
    for (const hop of forwarded.split(',').toReversed()) {
      const address = readAddress(withoutPort(hop.trim()));
      // A proxy that writes nonsense says nothing.
      if (address === undefined) return peer;
      if (!isTrusted(address)) return address;
      nearest = address;
    }
    return nearest;
  };
}

/** Some proxies add the port. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] =
    /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/.exec(hop) ?? [];
  return bracketed ?? plain ?? hop;
}

const carriesIpv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** One text for one address: IPv6 in its short form, and IPv4 as itself when it comes inside IPv6. */
function readAddress(text: string): string | undefined {
  const [plain = ''] = text.split('%');
  const version = isIP(plain);
  if (version === 0) return undefined;
  if (version === 4) return plain;
  const { address } = new SocketAddress({ address: plain, family: 'ipv6' });
  return carriesIpv4.exec(address)?.[1] ?? address;
}
