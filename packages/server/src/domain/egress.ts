/**
 * Which hosts an agent's programs may reach. An entry is a host (`api.example.com`), any host below a
 * domain (`*.example.com`) or an address (`10.0.0.7`, `[fd00::1]`), each with a port or without.
 * Without one it means the ports of the web, 80 and 443.
 */
export interface Egress {
  readonly host: string;
  /** `host` stands for everything below it. */
  readonly isWildcard: boolean;
  readonly port: number | undefined;
}

const webPorts = [80, 443];
const entryPattern = /^(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)(?::(\d{1,5}))?$/;

/** `undefined` when the entry is none. */
export function readEgress(entry: string): Egress | undefined {
  const match = entryPattern.exec(entry.toLowerCase());
  if (match === null) return undefined;
  const [, wildcard, host = '', , port] = match;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) return undefined;
  if (wildcard !== undefined && (!host.includes('.') || host.startsWith('['))) return undefined;
  return { host: plainHost(host), isWildcard: wildcard !== undefined, port: number };
}

/** The entry that lets a program reach this host and port; `undefined` when none does. */
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

/** `host.` is the same host, and an IPv6 address is one with its brackets or without. */
function plainHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
