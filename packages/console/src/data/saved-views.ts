/** A list with its filters, under a name that a person gave it. The filters are those of the address. */
export interface SavedView {
  readonly screen: string;
  readonly name: string;
  /** The query of the address, without the selected and opened items. */
  readonly query: string;
}

/** More views than this are not kept: the oldest makes room. */
const maxViews = 30;
export const maxViewName = 40;
const maxQuery = 500;

/** Fields of an address that name the opened item and do not filter the list. */
const opened = new Set(['item', 'tab']);

/** The filters of an address, in one order, so that two addresses with the same filters are equal. */
export function filtersOf(query: URLSearchParams): string {
  const kept = [...query].filter(([name, value]) => !opened.has(name) && value !== '');
  return new URLSearchParams(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))).toString();
}

/** Adds a view; one with the same name on the same screen is replaced. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [...withoutView(views, view), view].slice(-maxViews);
}

export function withoutView(
  views: readonly SavedView[],
  { screen, name }: Pick<SavedView, 'screen' | 'name'>,
): readonly SavedView[] {
  return views.filter((other) => other.screen !== screen || other.name !== name);
}

/** Reads what a browser stored; anything that is not a view is ignored. */
export function readViews(stored: unknown): readonly SavedView[] {
  if (!Array.isArray(stored)) return [];
  return stored.filter(isView).slice(-maxViews);
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false;
  const { screen, name, query } = value as Record<string, unknown>;
  return isText(screen, maxViewName) && isText(name, maxViewName) && isText(query, maxQuery);
}

function isText(value: unknown, max: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= max;
}
