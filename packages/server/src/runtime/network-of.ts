import { isIPv6 } from 'node:net';

/**
 * Returns the network that a rate limit counts: an IPv4 address itself, of an IPv6 address its /64, because one
 * subscriber has at least that many addresses. Only for limits: the audit records the address.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const left = groupsOf(head);
  const right = groupsOf(tail ?? '');
  const zeros = tail === undefined ? 0 : groups - left.length - right.length;
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${all.slice(0, groups / 2).join(':')}::/64`;
}

const groups = 8;

function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':');
}
