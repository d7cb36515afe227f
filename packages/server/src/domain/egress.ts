/**
 * A host that an agent's programs may reach: a host name (`api.example.com`), any host below a domain
 * (`*.example.com`) or an address (`10.0.0.7`, `[fd00::1]`), with a port or without. Without a port, 80 and
 * 443 are allowed.
 */
export interface Egress {
  readonly host: string;
  /** True when `host` is a domain and the entry allows every host below it. */
  readonly isWildcard: boolean;
  readonly port: number | undefined;
}

const webPorts = [80, 443];
const entryPattern = /^(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)(?::(\d{1,5}))?$/;

/** Undefined when the text is not a valid entry. */
export function readEgress(entry: string): Egress | undefined {
  const match = entryPattern.exec(entry.toLowerCase());
  if (match === null) return undefined;
  const [, wildcard, host = '', , port] = match;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) return undefined;
  if (wildcard !== undefined && (!host.includes('.') || host.startsWith('['))) return undefined;
  return { host: plainHost(host), isWildcard: wildcard !== undefined, port: number };
}

/** The entry that allows this host and port; undefined when none does. */
export function egressTo(
  entries: readonly Egress[],
  host: string,
  port: number,
): Egress | undefined {
  const wanted = plainHost(host.toLowerCase());
  return entries.find((entry) => {
    const isHost = entry.isWildcard ? wanted.endsWith(`.${entry.host}`) : wanted === entry.host;
    return isHost && (entry.port === undefined ? webPorts.includes(port) : entry.port === port);
  });
}

/** Removes a trailing dot and the brackets of an IPv6 address. */
function plainHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
