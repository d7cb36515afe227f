import { BlockList, isIP } from 'node:net';
import { type Egress, egressTo, readEgress } from '../domain/egress.ts';
import { addressKind } from './network-address.ts';

/**
 * Where remote agents may be beyond the public internet, as the operator lists it in `CONVOKE_A2A_ALLOW`: hosts and
 * addresses in the form of `sandbox.network`, and networks as `10.1.0.0/16`.
 */
export interface AllowList {
  readonly hosts: readonly Egress[];
  readonly networks: BlockList;
}

/** Throws at an entry that is none: a rule that was misspelt must not be ignored. */
export function readAllowList(entries: readonly string[]): AllowList {
  const hosts: Egress[] = [];
  const networks = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const host = prefix === undefined ? readEgress(entry) : undefined;
    if (host !== undefined) hosts.push(host);
    else if (!addNetwork(networks, address, prefix)) {
      throw new Error(
        `CONVOKE_A2A_ALLOW: "${entry}" is neither a host nor an address nor a network`,
      );
    }
  }
  return { hosts, networks };
}

/** What is wrong with an agent's address, as far as its text shows. */
export function urlProblem(url: URL, allow: AllowList): string | undefined {
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL';
  const host = hostOf(url);
  if (isIP(host) !== 0) return reachProblem(url, [host], allow);
  const isPlain = url.protocol === 'http:' && !isNamed(url, allow);
  return isPlain && !hasNetworks(allow) ? plainRefused : undefined;
}

/** Why none of these addresses may be called, for one of them may not; `undefined` when all may. */
export function reachProblem(
  url: URL,
  addresses: readonly string[],
  allow: AllowList,
): string | undefined {
  const isListed = isNamed(url, allow);
  const host = hostOf(url);
  // Whoever writes down an address, or this machine by name, means it.
  const isMeant = isListed && (isIP(host) !== 0 || host === 'localhost');
  const isOpen = (address: string) => {
    if (isMeant || inNetworks(address, allow)) return true;
    const kind = addressKind(address);
    return kind === 'public' || (kind === 'organization' && isListed);
  };
  if (!addresses.every(isOpen)) {
    return 'leads to an address that is not open to agents; an operator can list it in CONVOKE_A2A_ALLOW';
  }
  const isPlain = url.protocol === 'http:' && !isListed;
  return isPlain && !addresses.every((address) => inNetworks(address, allow))
    ? plainRefused
    : undefined;
}

const plainRefused = 'must be https; an operator can allow http for a host in CONVOKE_A2A_ALLOW';

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function portOf(url: URL): number {
  return Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
}

function isNamed(url: URL, { hosts }: AllowList): boolean {
  return egressTo(hosts, hostOf(url), portOf(url)) !== undefined;
}

function hasNetworks({ networks }: AllowList): boolean {
  return networks.rules.length > 0;
}

function inNetworks(address: string, { networks }: AllowList): boolean {
  return networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function addNetwork(networks: BlockList, address: string, prefix: string | undefined): boolean {
  const version = isIP(address);
  const bits = Number(prefix);
  if (version === 0 || prefix === undefined || !/^\d{1,3}$/.test(prefix)) return false;
  if (bits > (version === 4 ? 32 : 128)) return false;
  networks.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6');
  return true;
}
