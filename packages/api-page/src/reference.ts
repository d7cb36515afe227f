import {
  type OpenApiDocument,
  type PathOperation,
  type Html,
  html,
  joinHtml,
} from '@convoke/contract';
import { anchorLink, prose } from './prose.ts';
import { operationSection, type Place } from './operation-section.ts';
import {
  errorsMarkdown,
  eventsMarkdown,
  nounMarkdown,
  schemasMarkdown,
  scopesMarkdown,
} from './reference-markdown.ts';
import {
  type ResourcePage,
  conventions,
  errorsSection,
  eventsSection,
  introduction,
  schemasSection,
  scopesSection,
  resourcePages,
  resourceTitles,
} from './sections.ts';

export type ReferencePage = {
  readonly name: string;
  readonly title: string;
  readonly body: Html;
  readonly markdown: () => string;
  /** The entries that the contents show below the current page, and the overview everywhere. */
  readonly items: readonly ReferenceItem[];
};

export type ReferenceItem = {
  readonly id: string;
  readonly title: string;
  /** Of an operation. */
  readonly method?: string;
};

type Entry = Place & { readonly operation: PathOperation };

/** The reference: a page for each noun, and one each for events, resources, scopes and errors. */
export function referencePages(document: OpenApiDocument): ReferencePage[] {
  const nouns = document.tags.map((tag) => nounPage(document, tag));
  const lists = [
    {
      name: 'events',
      title: 'Run events',
      body: eventsSection(document),
      markdown: () => eventsMarkdown(document),
    },
    ...resourcePages.map((name) => resourcePage(document, name)),
    {
      name: 'scopes',
      title: 'Scopes and profiles',
      body: scopesSection(),
      markdown: scopesMarkdown,
    },
    { name: 'errors', title: 'Error codes', body: errorsSection(), markdown: errorsMarkdown },
  ];
  return [...nouns, ...lists.map((page) => ({ ...page, items: itemsOf(page.body) }))];
}

function resourcePage(document: OpenApiDocument, name: ResourcePage) {
  return {
    name,
    title: resourceTitles[name],
    body: schemasSection(document, name),
    markdown: () => schemasMarkdown(document, name),
  };
}

/** The first page: how to begin, the rules, and the address of everything by its name. */
export function overview(
  document: OpenApiDocument,
  pages: readonly ReferencePage[],
  start: Html | undefined,
): Html {
  const { title, version, summary } = document.info;
  return html`
<header class="masthead">
<p class="eyebrow">${title} <span class="version">${version}</span></p>
${start === undefined ? html`<h1>${title}</h1>` : start}
</header>
<h2 id="api">The API${anchorLink('api')}</h2>
<p class="tagline">${summary} <a href="./openapi.json">OpenAPI 3.1 document</a></p>
${introduction(document)}
${conventions(document)}
<section id="index">
<h2>Everything by name${anchorLink('index')}</h2>
${pages.map(indexOf)}
</section>`;
}

/**
 * Everything was on one page once. Each id of then is still here, on a link to its place of now, so that old addresses
 * lead there: at once with the page's script, with a click without it.
 */
function indexOf({ name, title, items }: ReferencePage): Html {
  const own = name === 'resources' ? 'schemas' : name;
  const links = items.map(
    ({ id, title: text }) =>
      html`<li id="${id}"><a class="moved" href="./docs/reference/${name}#${id}">${text}</a></li>`,
  );
  return html`
<h3 id="${own}"><a class="moved" href="./docs/reference/${name}">${title}</a></h3>
<ul class="names">${links}</ul>`;
}

function nounPage(
  document: OpenApiDocument,
  tag: { readonly name: string; readonly description: string },
): ReferencePage {
  const entries = entriesOf(document, tag.name);
  const sections = entries.map((entry) => operationSection(document, entry, entry.operation));
  const name = tag.name.toLowerCase().replaceAll(' ', '-');
  return {
    name,
    title: tag.name,
    markdown: () => nounMarkdown(document, tag, entries),
    items: entries.map(({ method, operation }) => ({
      id: operation.operationId,
      title: operation.summary,
      method,
    })),
    body: html`
<section id="${name}" class="group">
<h1>${tag.name}</h1>
<p class="lead">${prose(tag.description)}</p>
${joinHtml(sections)}
</section>`,
  };
}

/** The operations of a noun. */
function entriesOf(document: OpenApiDocument, tag: string): Entry[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.tags.includes(tag) ? [{ method, path, operation }] : [],
    ),
  );
}

/** The rows of a list have ids like `error-session_busy`. */
function itemsOf({ markup }: Html): ReferenceItem[] {
  const ids = markup.matchAll(/ id="((?:event|schema|error)-([^"]+))"/g);
  return Array.from(ids, ([, id = '', title = '']) => ({ id, title }));
}
