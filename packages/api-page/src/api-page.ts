import type { OpenApiDocument, PathOperation } from '@convoke/contract';
import { guideContents } from './guide-page.ts';
import type { Guide } from './guides/guides.ts';
import { anchorLink, type Html, html, join, prose } from './html.ts';
import { methodBadge, operationSection, type Place } from './operation-section.ts';
import { renderPage } from './page.ts';
import { searchEntries } from './search.ts';
import {
  conventions,
  errorsSection,
  eventsSection,
  introduction,
  schemasSection,
  scopesSection,
} from './sections.ts';

export { allGuides, type Guide } from './guides/guides.ts';
export { renderGuidePage } from './guide-page.ts';
export { pagePolicy } from './page.ts';

type Entry = Place & { readonly operation: PathOperation };

/** Renders the API as one page, with the guides in its contents. */
export function renderApiPage(document: OpenApiDocument, guides: readonly Guide[] = []): string {
  const { title, version, summary } = document.info;
  return renderPage({
    title: `${title} API ${version}`,
    brand: title,
    root: './',
    contents: contents(document, guides),
    main: html`
<header class="masthead">
<p class="eyebrow">API reference <span class="version">${version}</span></p>
<h1>${title}</h1>
<p class="tagline">${summary} <a href="./openapi.json">OpenAPI 3.1 document</a></p>
</header>
${introduction(document)}
${conventions(document)}
${document.tags.map((tag) => group(document, tag))}
${eventsSection(document)}
${schemasSection(document)}
${scopesSection()}
${errorsSection()}`,
    search: searchEntries(document, guides),
  });
}

function contents(document: OpenApiDocument, guides: readonly Guide[]): Html {
  const groups = document.tags.map(
    ({ name }) => html`
<li><a class="group" href="#${anchor(name)}">${name}</a><ul>${entriesOf(document, name).map(sidebarItem)}</ul></li>`,
  );
  return html`
<ul class="contents">
${guideContents(guides, { root: './' })}
<li><a class="group" href="#conventions">Conventions</a></li>
${groups}
<li><a class="group" href="#events">Run events</a></li>
<li><a class="group" href="#schemas">Resources</a></li>
<li><a class="group" href="#scopes">Scopes and profiles</a></li>
<li><a class="group" href="#errors">Error codes</a></li>
</ul>`;
}

function sidebarItem({ method, operation }: Entry): Html {
  return html`<li><a href="#${operation.operationId}">${methodBadge(method)}<span>${operation.summary}</span></a></li>`;
}

function group(
  document: OpenApiDocument,
  tag: { readonly name: string; readonly description: string },
): Html {
  const sections = entriesOf(document, tag.name).map((entry) =>
    operationSection(document, entry, entry.operation),
  );
  return html`
<section id="${anchor(tag.name)}" class="group">
<h2>${tag.name}${anchorLink(anchor(tag.name))}</h2>
<p class="lead">${prose(tag.description)}</p>
${join(sections)}
</section>`;
}

function entriesOf(document: OpenApiDocument, tag: string): Entry[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.tags.includes(tag) ? [{ method, path, operation }] : [],
    ),
  );
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}
