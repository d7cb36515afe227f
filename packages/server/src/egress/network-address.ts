import { BlockList, isIP } from 'node:net';

/** Loopback, link-local, multicast and reserved addresses: a name must never resolve to one. */
const never = blockList({
  ipv4: ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '224.0.0.0/3'],
  ipv6: ['::/127', 'fe80::/10', 'ff00::/8'],
});
/** Private networks: reachable only if listed. */
const organization = blockList({
  ipv4: ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15'],
  ipv6: ['fc00::/7'],
});
/** IPv6 addresses that embed an IPv4 address: never allowed, since decoding them is not worth the risk. */
const embedding = blockList({ ipv4: [], ipv6: ['::ffff:0:0/96', '64:ff9b::/96', '2002::/16'] });

export type AddressKind = 'public' | 'organization' | 'never';

/** Classifies an IP address; text that is not an address is `never`. */
export function addressKind(address: string): AddressKind {
  const version = isIP(address);
  if (version === 0) return 'never';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (never.check(address, family) || (version === 6 && embedding.check(address, 'ipv6'))) {
    return 'never';
  }
  return organization.check(address, family) ? 'organization' : 'public';
}

function blockList(ranges: { ipv4: readonly string[]; ipv6: readonly string[] }): BlockList {
  const list = new BlockList();
  for (const family of ['ipv4', 'ipv6'] as const) {
    for (const range of ranges[family]) {
      const [address = '', prefix = ''] = range.split('/');
      list.addSubnet(address, Number(prefix), family);
    }
  }
  return list;
}
