import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

/** Addresses and networks of the proxies whose `X-Forwarded-For` is trusted. */
export const trustedProxiesSetting = {
  fallback: '',
  means: 'addresses and networks of proxies whose X-Forwarded-For is trusted; none by default',
  format: 'IP addresses and networks such as 10.1.0.0/16, separated by commas or spaces',
  role: 'both',
  read: z.string().transform((text, context) => {
    const list = new BlockList();
    for (const entry of text.split(/[\s,]+/).filter((part) => part !== '')) {
      if (add(list, entry)) continue;
      context.addIssue(`"${entry}" is neither an address nor a network such as 10.1.0.0/16`);
    }
    return list;
  }),
} as const;

function add(list: BlockList, entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  const widest = version === 4 ? 32 : 128;
  const bits = prefix === undefined ? widest : Number(prefix);
  // A prefix of 0 bits would trust every caller.
  if (prefix !== undefined && !/^[1-9]\d{0,2}$/.test(prefix)) return false;
  if (bits > widest) return false;
  list.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6');
  return true;
}
