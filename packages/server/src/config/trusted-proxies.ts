import { isIP } from 'node:net';
import proxyaddr from '@fastify/proxy-addr';
import { z } from 'zod';

/** Whether an address belongs to a proxy whose `X-Forwarded-For` is trusted. */
export type TrustedProxies = ReturnType<typeof proxyaddr.compile>;

export const trustedProxiesSetting = {
  fallback: '',
  means: 'addresses and networks of proxies whose X-Forwarded-For is trusted; none by default',
  format: 'IP addresses and networks such as 10.1.0.0/16, separated by commas or spaces',
  role: 'both',
  read: z.string().transform((text, context): TrustedProxies => {
    const entries = text.split(/[\s,]+/).filter((part) => part !== '');
    for (const entry of entries.filter((part) => !isNetwork(part))) {
      context.addIssue(`"${entry}" is neither an address nor a network such as 10.1.0.0/16`);
    }
    return proxyaddr.compile(entries.filter(isNetwork));
  }),
} as const;

/** Stricter than the library, which also takes names such as "loopback", netmasks and shortened addresses. */
function isNetwork(entry: string): boolean {
  const [address = '', prefix = '1', ...rest] = entry.split('/');
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return false;
  // A network of all addresses would trust every caller.
  if (!/^[1-9]\d{0,2}$/.test(prefix)) return false;
  return Number(prefix) <= (isIP(address) === 4 ? 32 : 128);
}
