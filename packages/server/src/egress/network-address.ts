import { BlockList, type IPVersion, isIP } from 'node:net';

const ipv4 = {
  /** Loopback, link-local, multicast and reserved addresses: a name must never resolve to one. */
  never: blockList('ipv4', [
    '0.0.0.0/8',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '192.0.0.0/24',
    '224.0.0.0/3',
  ]),
  /** Private networks: reachable only if listed. */
  organization: blockList('ipv4', [
    '10.0.0.0/8',
    '100.64.0.0/10',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '198.18.0.0/15',
  ]),
};

const ipv6 = {
  organization: blockList('ipv6', ['fc00::/7']),
  /** What is assigned to the internet. All else is reserved, local, or embeds an IPv4 address, which may be private. */
  internet: blockList('ipv6', ['2000::/3']),
  /** The special ranges in it: Teredo, ORCHID and other protocols (2001::/23), documentation, 6to4. */
  special: blockList('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']),
};

export type AddressKind = 'public' | 'organization' | 'never';

/** Classifies an IP address; text that is not an address is `never`. */
export function addressKind(address: string): AddressKind {
  switch (isIP(address)) {
    case 4:
      if (ipv4.organization.check(address, 'ipv4')) return 'organization';
      return ipv4.never.check(address, 'ipv4') ? 'never' : 'public';
    case 6:
      if (ipv6.organization.check(address, 'ipv6')) return 'organization';
      if (ipv6.special.check(address, 'ipv6')) return 'never';
      return ipv6.internet.check(address, 'ipv6') ? 'public' : 'never';
    default:
      return 'never';
  }
}

function blockList(family: IPVersion, ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix = ''] = range.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
