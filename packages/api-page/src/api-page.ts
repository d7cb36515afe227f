import { type OpenApiDocument, type Html, html, rawHtml } from '@convoke/contract';
import { renderContents } from './contents.ts';
import type { Guide } from './guides/guides.ts';
import { renderPage } from './page.ts';
import { overview, type ReferencePage, referencePages } from './reference.ts';
import { buildIndex } from './search/build-index.ts';
import { searchEntries } from './search/entries.ts';

export { allGuides, type Guide, guideFiles } from './guides/guides.ts';
export { pagePolicy } from './page.ts';

export type Docs = {
  /** Paths of all pages, from the root of the server. */
  readonly paths: readonly string[];
  /** Renders a page; undefined if there is none at this path. */
  readonly render: (path: string) => string | undefined;
  /** The index of the search, as JSON. */
  readonly searchIndex: () => string;
};

type Body = { readonly title: string; readonly main: Html };

/** The API reference and the guides, as pages that are rendered when they are asked for. */
export function createDocs(document: OpenApiDocument, guides: readonly Guide[] = []): Docs {
  const pages = referencePages(document);
  const places = placesOf(pages);
  const bodies = new Map<string, Body>([
    ['docs', { title: `${document.info.title} API`, main: overview(document, pages) }],
    ...pages.map((page) => [`docs/reference/${page.name}`, referenceBody(page)] as const),
    ...guides.map((guide) => [`docs/guides/${guide.name}`, guideBody(guide)] as const),
  ]);
  const place = (id: string) => `${places.get(id) ?? 'docs'}#${id}`;
  return {
    paths: [...bodies.keys()],
    render(path) {
      const body = bodies.get(path);
      if (body === undefined) return undefined;
      const root = path === 'docs' ? './' : '../../';
      return renderPage({
        title: path === 'docs' ? body.title : `${body.title} · ${document.info.title}`,
        brand: document.info.title,
        root,
        contents: renderContents({ guides, pages, root, path }),
        main: path.startsWith('docs/guides/')
          ? body.main
          : linkedAcross(body.main, { root, path, places }),
      });
    },
    searchIndex: () => JSON.stringify(buildIndex(searchEntries(document, guides, place))),
  };
}

function referenceBody({ title, body }: ReferencePage): Body {
  return { title, main: body };
}

function guideBody({ title, body }: Guide): Body {
  return { title, main: html`<article class="guide prose">${body}</article>` };
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
