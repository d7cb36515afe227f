import { type ReadonlySignal, signal } from '@preact/signals';
import { type Place, type Query, addressOf, consoleRoot, placeAt } from '../data/routes.ts';

const current = signal<Place>(placeAt(location.pathname, location.search));

/** Where the page is. */
export const place: ReadonlySignal<Place> = current;

/** Asked before a screen is left that shows something once. Returns false to stay. */
let mayLeave: (() => boolean) | undefined;

export function guardLeaving(ask: (() => boolean) | undefined): void {
  mayLeave = ask;
}

export interface Move {
  /** Puts the address in the place of the current one: for filters and corrections. */
  readonly replace?: boolean;
}

export function navigate(address: string, { replace = false }: Move = {}): void {
  if (mayLeave !== undefined && !isSamePath(address) && !mayLeave()) return;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  current.value = placeAt(location.pathname, location.search);
}

/** Changes fields of the query and leaves the rest; `undefined` removes a field. */
export function setQuery(change: Query, move: Move = { replace: true }): void {
  navigate(addressWith(change), move);
}

/** The present address with other fields in its query. */
export function addressWith(change: Query): string {
  const { screen, params, query } = current.value;
  if (screen === 'unknown') return location.pathname;
  return addressOf(screen, params, { ...Object.fromEntries(query), ...change });
}

/** Follows the links of the console inside the page; all others stay links of the browser. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    current.value = placeAt(location.pathname, location.search);
  });
  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!isPlain || event.defaultPrevented || !(event.target instanceof Element)) return;
    const link = event.target.closest('a');
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !url.pathname.startsWith(`${consoleRoot}/`)) return;
    event.preventDefault();
    navigate(url.pathname + url.search, { replace: link.hasAttribute('data-keep-scroll') });
  });
}

function isSamePath(address: string): boolean {
  return new URL(address, location.href).pathname === location.pathname;
}
