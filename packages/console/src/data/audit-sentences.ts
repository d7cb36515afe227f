import { type AuditRecord, auditSentence } from '@convoke/sdk';
import { shortId } from './formats.ts';
import type { PageOf } from './pages.ts';

const longId = /^[a-z]+_[0-9a-z]{20,}$/;

/** The sentence with the names that the page knows, and other ids cut short. */
export function shownSentence(
  row: AuditRecord,
  nameOf: (id: string) => string | undefined,
): string {
  return auditSentence(row, (id) => nameOf(id) ?? id.replace(longId, shortId));
}

/** Rows about tokens are written on each load of a page, and hide the others. */
function isTokenRow({ action }: Pick<AuditRecord, 'action'>): boolean {
  return action.startsWith('token.') || action.startsWith('session_token.');
}

/** Enough rows for a page without tokens, and the pages that are searched for them. */
const enoughRows = 20;
const maxSearched = 10;

/** Every visit of the console adds rows about tokens: pages are read until there are others to show. */
export async function withoutTokens<Row extends Pick<AuditRecord, 'action'>>(
  read: (cursor: string | undefined) => Promise<PageOf<Row>>,
  cursor: string | undefined,
): Promise<PageOf<Row>> {
  const items: Row[] = [];
  let nextCursor = cursor;
  for (let pages = 0; pages < maxSearched; pages += 1) {
    const page = await read(nextCursor);
    items.push(...page.items.filter((row) => !isTokenRow(row)));
    ({ nextCursor } = page);
    if (nextCursor === undefined || items.length >= enoughRows) break;
  }
  return { items, nextCursor };
}

/**
 * The id of what is called so, in small letters or capitals; the text itself where nothing is, since it may be an id.
 */
export function idOfName(names: ReadonlyMap<string, string>, text: string): string {
  const wanted = text.trim().toLowerCase();
  const [found] = [...names].find(([, name]) => name.toLowerCase() === wanted) ?? [];
  return found ?? text.trim();
}
