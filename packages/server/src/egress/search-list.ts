import { readFile } from 'node:fs/promises';

/** The part of `resolv.conf(5)` that c-ares does not apply to a single query. */
export interface SearchList {
  readonly domains: readonly string[];
  /** A name with at least this many dots is asked for as it is before the domains are appended. */
  readonly dotsMin: number;
}

/** As many as Kubernetes permits a pod. */
const domainsMax = 32;
const dotsLimit = 15;
const charactersMax = 64 * 1024;

/** Reads the search list of this machine; an empty one when there is no such file. */
export async function readSearchList(path = '/etc/resolv.conf'): Promise<SearchList> {
  const text = await readFile(path, 'utf8').catch(() => '');
  let domains: readonly string[] = [];
  let dotsMin = 1;
  for (const line of text.slice(0, charactersMax).split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/);
    // The last line counts, as in glibc.
    if (keyword === 'search') domains = words.slice(0, domainsMax);
    if (keyword === 'domain') domains = words.slice(0, 1);
    if (keyword === 'options') dotsMin = dotsIn(words) ?? dotsMin;
  }
  return { domains: domains.map((each) => each.replace(/\.$/, '')).filter(Boolean), dotsMin };
}

function dotsIn(options: readonly string[]): number | undefined {
  const found = options.findLast((each) => /^ndots:\d{1,3}$/.test(each));
  return found === undefined ? undefined : Math.min(Number(found.slice(6)), dotsLimit);
}

/** The names to ask for, in this order, as glibc does: service names of Kubernetes depend on it. */
export function candidatesOf(name: string, { domains, dotsMin }: SearchList): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const appended = domains.map((domain) => `${name}.${domain}`);
  const isAsked = name.split('.').length > dotsMin;
  return isAsked ? [name, ...appended] : [...appended, name];
}
