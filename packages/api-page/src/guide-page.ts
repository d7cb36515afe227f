import type { OpenApiDocument } from '@convoke/contract';
import type { Guide } from './guides/guides.ts';
import { type Html, html, nothing } from './html.ts';
import { renderPage } from './page.ts';
import { searchEntries } from './search.ts';

const root = '../../';

/** Renders one guide, with all guides and its own sections in the contents. */
export function renderGuidePage(
  document: OpenApiDocument,
  guide: Guide,
  guides: readonly Guide[],
): string {
  return renderPage({
    title: `${guide.title} · ${document.info.title}`,
    brand: document.info.title,
    root,
    contents: html`<ul class="contents guides"><li><a class="group" href="${root}docs">API reference</a></li>${guideContents(guides, { root, current: guide })}</ul>`,
    main: html`<article class="guide prose">${guide.body}</article>`,
    search: searchEntries(document, guides),
  });
}

type GuideContents = { readonly root: string; readonly current?: Guide };

/** Renders the guides by group; below the current one, its sections. A group leads to its first guide. */
export function guideContents(guides: readonly Guide[], place: GuideContents): Html {
  const groups = Map.groupBy(guides, ({ group }) => group);
  return html`${Array.from(groups, ([group, members]) => guideGroup(group, members, place))}`;
}

function guideGroup(group: string, members: readonly Guide[], place: GuideContents): Html {
  const items = members.map((one) => guideItem(one, place));
  return html`
<li><a class="group" href="${place.root}docs/guides/${members[0]?.name}">${group}</a><ul class="plain-list">${items}</ul></li>`;
}

function guideItem(guide: Guide, { root: way, current }: GuideContents): Html {
  const isCurrent = guide === current;
  const sections = guide.headings
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`);
  const place = isCurrent ? html` aria-current="page"` : nothing;
  const list =
    isCurrent && sections.length > 0 ? html`<ul class="sections">${sections}</ul>` : nothing;
  return html`<li><a href="${way}docs/guides/${guide.name}"${place}>${guide.title}</a>${list}</li>`;
}
