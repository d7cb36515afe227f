import type { OpenApiDocument } from '@convoke/contract';
import { errors } from '@convoke/contract';
import type { Guide } from './guides/guides.ts';
import { type Html, html } from './html.ts';

export type SearchEntry = {
  readonly kind: string;
  readonly title: string;
  /** Other words that find it. */
  readonly also: string;
  /** From the root of the server. */
  readonly href: string;
};

/** Everything that the search finds: operations, events, resources, errors, and the sections of guides. */
export function searchEntries(document: OpenApiDocument, guides: readonly Guide[]): SearchEntry[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary }]) => ({
      kind: method.toUpperCase(),
      title: summary,
      also: `${path} ${operationId}`,
      href: `docs#${operationId}`,
    })),
  );
  const events = document['x-event-types'].map(({ type }) => ({
    kind: 'Event',
    title: type,
    also: '',
    href: `docs#event-${type}`,
  }));
  const codes = Object.keys(errors).map((code) => ({
    kind: 'Error',
    title: code,
    also: '',
    href: `docs#error-${code}`,
  }));
  return [...operations, ...guides.flatMap(guideEntries), ...events, ...codes];
}

function guideEntries({ name, title, headings }: Guide): SearchEntry[] {
  return headings.map(({ level, id, text }) => ({
    kind: 'Guide',
    title: text,
    also: level === 1 ? '' : title,
    href: level === 1 ? `docs/guides/${name}` : `docs/guides/${name}#${id}`,
  }));
}

/** Renders all entries as links, which the page's script filters. */
export function searchDialog(entries: readonly SearchEntry[], root: string): Html {
  const items = entries.map(
    ({ kind, title, also, href }) =>
      html`<li><a href="${root}${href}"><span class="kind">${kind}</span><span class="found">${title}</span><span class="also">${also}</span></a></li>`,
  );
  return html`
<dialog class="search" aria-label="Search">
<input type="search" placeholder="Search operations, events, errors and guides" aria-label="Search" autocomplete="off" spellcheck="false">
<ul>${items}</ul>
<p class="none" role="status" hidden>Nothing found.</p>
</dialog>`;
}
