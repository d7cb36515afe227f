import { type Html, html } from '@convoke/contract';
import type { Guide } from './guides/guides.ts';
import type { Heading } from './guides/markdown.ts';
import { nothing } from './prose.ts';
import { methodBadge } from './operation-section.ts';
import type { ReferencePage } from './reference.ts';

/** The group of docs/README.md that the reference follows. */
const referenceFollows = 'Use it';

export type Contents = {
  /** The guide of the first page. */
  readonly start: Guide | undefined;
  readonly guides: readonly Guide[];
  readonly pages: readonly ReferencePage[];
  /** The way from the page to the root of the server. */
  readonly root: string;
  /** The page itself, from the root of the server. */
  readonly path: string;
};

/** Renders the contents that stand beside every page; below the page itself, its sections. */
export function renderContents(contents: Contents): Html {
  const groups = Map.groupBy(contents.guides, ({ group }) => group);
  const lists = Array.from(groups, ([title, members]) => {
    const guides = group(
      title,
      members.map((guide) => guideItem(guide, contents)),
    );
    return title === referenceFollows ? html`${guides}${reference(contents)}` : guides;
  });
  const inner = (contents.start?.headings ?? []).filter(({ level }) => level === 2);
  const first = item(
    { path: 'docs', title: 'Start here', inner: inner.map(headingItem) },
    contents,
  );
  return html`<ul class="contents">${first}${groups.size === 0 ? reference(contents) : lists}</ul>`;
}

function group(title: string, items: readonly Html[]): Html {
  return html`
<li><span class="group">${title}</span><ul>${items}</ul></li>`;
}

function reference(contents: Contents): Html {
  const pages = contents.pages.map(({ name, title, items }) => {
    const operations = items.filter(({ method }) => method !== undefined);
    const inner = operations.map(
      ({ id, title: text, method = '' }) =>
        html`<li><a class="operation-link" href="#${id}">${methodBadge(method)}<span>${text}</span></a></li>`,
    );
    return item({ path: `docs/reference/${name}`, title, inner }, contents);
  });
  return group('API reference', pages);
}

function guideItem(guide: Guide, contents: Contents): Html {
  const sections = guide.headings.filter(({ level }) => level === 2);
  return item({ path: guide.path, title: guide.title, inner: sections.map(headingItem) }, contents);
}

function headingItem({ id, text }: Heading): Html {
  return html`<li><a href="#${id}">${text}</a></li>`;
}

type Item = { readonly path: string; readonly title: string; readonly inner: readonly Html[] };

function item({ path, title, inner }: Item, contents: Contents): Html {
  const isCurrent = path === contents.path;
  const mark = isCurrent ? html` aria-current="page"` : nothing;
  const list = isCurrent && inner.length > 0 ? html`<ul class="sections">${inner}</ul>` : nothing;
  return html`<li><a href="${contents.root}${path}"${mark}>${title}</a>${list}</li>`;
}
