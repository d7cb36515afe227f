import { BlockList, isIP } from 'node:net';
import { type Egress, egressTo, readEgress } from '../domain/egress.ts';
import { addressKind } from './network-address.ts';
import { hostOf, portOf } from './url-host.ts';

/**
 * Destinations beyond the public internet that the operator permits in a setting: hosts and addresses in the form of
 * `sandbox.network`, and networks such as `10.1.0.0/16`.
 */
export interface AllowList {
  /** Name of the operator's setting, for messages. */
  readonly setting: string;
  readonly hosts: readonly Egress[];
  readonly networks: BlockList;
}

/** Throws for an invalid entry: a misspelt rule must not be ignored. */
export function readAllowList(setting: string, entries: readonly string[]): AllowList {
  const hosts: Egress[] = [];
  const networks = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const host = prefix === undefined ? readEgress(entry) : undefined;
    if (host !== undefined) hosts.push(host);
    else if (!addNetwork(networks, address, prefix)) {
      throw new Error(`${setting}: "${entry}" is neither a host nor an address nor a network`);
    }
  }
  return { setting, hosts, networks };
}

/** Explains why a URL may not be called, as far as its text shows without a lookup; `undefined` when it may. */
export function urlProblem(url: URL, allow: AllowList): string | undefined {
  if (url.username !== '' || url.password !== '') return 'must not contain a user or a password';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL';
  const host = hostOf(url);
  if (isIP(host) !== 0) return reachProblem(url, [host], allow);
  const isPlain = url.protocol === 'http:' && !isListed(url, allow);
  // A listed network may permit http: that is known only after the lookup.
  return isPlain && allow.networks.rules.length === 0 ? plainProblem(allow) : undefined;
}

/**
 * Explains why a URL that resolves to these addresses may not be called; `undefined` when it may. All must be allowed.
 * The explanation is the same for no address and for a private one: it must not tell which internal names exist.
 */
export function reachProblem(
  url: URL,
  addresses: readonly string[],
  allow: AllowList,
): string | undefined {
  const listed = isListed(url, allow);
  const host = hostOf(url);
  // An operator who lists an address, or localhost, means exactly that machine.
  const isExplicit = listed && (isIP(host) !== 0 || host === 'localhost');
  const isAllowed = (address: string) => {
    if (isExplicit || inNetworks(address, allow)) return true;
    const kind = addressKind(address);
    return kind === 'public' || (kind === 'organization' && listed);
  };
  if (addresses.length === 0 || !addresses.every(isAllowed)) {
    const what = isIP(host) === 0 ? 'does not exist, or leads to' : 'is';
    return `${what} an address that is not allowed; an operator can list it in ${allow.setting}`;
  }
  const isPlain = url.protocol === 'http:' && !listed;
  return isPlain && !addresses.every((address) => inNetworks(address, allow))
    ? plainProblem(allow)
    : undefined;
}

function plainProblem({ setting }: AllowList): string {
  return `must be https; an operator can allow http for a host in ${setting}`;
}

function isListed(url: URL, { hosts }: AllowList): boolean {
  return egressTo(hosts, hostOf(url), portOf(url)) !== undefined;
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
