import type { IncomingMessage } from 'node:http';
import { SocketAddress, isIP } from 'node:net';
import proxyaddr from '@fastify/proxy-addr';

/** Returns the address a request came from, for rate limits and audit. */
export type CallerAddress = (request: PeerRequest) => string;

interface PeerRequest {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
  readonly headers: IncomingMessage['headers'];
}

type IsTrusted = (address: string, hop: number) => boolean;

/** Replaces a hop that is not an address. It is never trusted. */
const unknownHop = 'unknown';

/**
 * Returns the peer's address or, behind trusted proxies, the address that called them. `X-Forwarded-For` is read from
 * the right: each proxy appends to it, so what precedes a hop that we do not trust may be invented. A caller that the
 * proxies did not name is the peer.
 */
export function callerAddressBehind(isTrusted: IsTrusted): CallerAddress {
  return ({ socket, headers }) => {
    const peer = readAddress(socket.remoteAddress ?? '') ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (typeof forwarded !== 'string' || !isTrusted(peer, 0)) return peer;
    const hops = forwarded.split(',').map((hop) => readAddress(withoutPort(hop.trim())));
    const chain = hops.map((address) => address ?? unknownHop).join(',');
    const request: PeerRequest = {
      socket: { remoteAddress: peer },
      headers: { 'x-forwarded-for': chain },
    };
    const caller = proxyaddr(request as IncomingMessage, isTrusted);
    return caller === unknownHop ? peer : caller;
  };
}

/** Removes the port that some proxies add. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] =
    /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/.exec(hop) ?? [];
  return bracketed ?? plain ?? hop;
}

const mappedIpv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** Returns the one spelling of an address: IPv6 in its short form, IPv4-mapped IPv6 as IPv4. */
function readAddress(text: string): string | undefined {
  const [plain = ''] = text.split('%');
  const version = isIP(plain);
  if (version === 0) return undefined;
  if (version === 4) return plain;
  const { address } = new SocketAddress({ address: plain, family: 'ipv6' });
  return mappedIpv4.exec(address)?.[1] ?? address;
}
