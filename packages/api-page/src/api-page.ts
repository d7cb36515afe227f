import { type OpenApiDocument, type Html, html, rawHtml } from '@convoke/contract';
import { renderContents } from './contents.ts';
import { listForAgents, textForAgents } from './agent-texts.ts';
import type { Guide } from './guides/guides.ts';
import { renderPage } from './page.ts';
import { overview, type ReferencePage, referencePages } from './reference.ts';
import { buildIndex } from './search/build-index.ts';
import { searchEntries } from './search/entries.ts';

export { allGuides, type Guide, guideFiles } from './guides/guides.ts';
export { packagedGuides } from './guides/packaged.ts';
export { pagePolicy } from './page.ts';

export type Docs = {
  /** Paths of all pages, from the root of the server. */
  readonly paths: readonly string[];
  /** Renders a page; undefined if there is none at this path. */
  readonly render: (path: string) => string | undefined;
  /** A page as Markdown; undefined if there is none at this path. */
  readonly markdown: (path: string) => string | undefined;
  /** The index of the search, as JSON. */
  readonly searchIndex: () => string;
  /** `llms.txt`: every page with its address, for coding agents. */
  readonly list: () => string;
  /** `llms-full.txt`: every page in one text. */
  readonly whole: () => string;
};

type Body = { readonly title: string; readonly main: Html; readonly markdown: () => string };

/** The API reference and the guides, as pages that are rendered when they are asked for. */
export function createDocs(document: OpenApiDocument, guides: readonly Guide[] = []): Docs {
  const pages = referencePages(document);
  const places = placesOf(pages);
  const start = guides.find(({ path }) => path === 'docs');
  const others = guides.filter((guide) => guide !== start);
  const first = {
    title: start?.title ?? `${document.info.title} API`,
    main: overview(document, pages, start && article(start)),
    markdown: () => start?.markdown ?? document.info.description,
  };
  const bodies = new Map<string, Body>([
    ['docs', first],
    ...pages.map((page) => [`docs/reference/${page.name}`, referenceBody(page)] as const),
    ...others.map((guide) => [guide.path, guideBody(guide)] as const),
  ]);
  const listed = { info: document.info, guides, pages };
  const place = (id: string) => `${places.get(id) ?? 'docs'}#${id}`;
  return {
    paths: [...bodies.keys()],
    render(path) {
      const body = bodies.get(path);
      if (body === undefined) return undefined;
      const root = path === 'docs' ? './' : '../../';
      return renderPage({
        title: `${body.title} · ${document.info.title}`,
        brand: document.info.title,
        root,
        contents: renderContents({ start, guides: others, pages, root, path }),
        markdown: `${root}${path}.md`,
        main: path.startsWith('docs/guides/')
          ? body.main
          : linkedAcross(body.main, { root, path, places }),
      });
    },
    markdown: (path) => bodies.get(path)?.markdown(),
    list: () => listForAgents(listed),
    whole: () => textForAgents(listed),
    searchIndex: () => JSON.stringify(buildIndex(searchEntries(document, guides, place))),
  };
}

function referenceBody({ title, body, markdown }: ReferencePage): Body {
  return { title, main: body, markdown };
}

function guideBody(guide: Guide): Body {
  return { title: guide.title, main: article(guide), markdown: () => guide.markdown };
}

function article({ body }: Guide): Html {
  return html`<article class="guide prose">${body}</article>`;
}

/** The page of each id that another page may link to. */
function placesOf(pages: readonly ReferencePage[]): ReadonlyMap<string, string> {
  const places = new Map(['start', 'conventions', 'selectors'].map((id) => [id, 'docs']));
  for (const { name, body } of pages) {
    for (const [, id = ''] of body.markup.matchAll(/ id="([^"]+)"/g)) {
      places.set(id, `docs/reference/${name}`);
    }
  }
  return places;
}

type Linking = {
  readonly root: string;
  readonly path: string;
  readonly places: ReadonlyMap<string, string>;
};

/** Sections link to each other by id alone; a link to another page gets the path of that page. */
function linkedAcross({ markup }: Html, { root, path, places }: Linking): Html {
  return rawHtml(
    markup.replaceAll(/href="#([^"]+)"/g, (link, id: string) => {
      const place = places.get(id);
      return place === undefined || place === path ? link : `href="${root}${place}#${id}"`;
    }),
  );
}
