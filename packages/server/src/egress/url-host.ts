/** Host of a URL, without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Port of an http or https URL. */
export function portOf(url: URL): number {
  return Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
}
