import type { OpenApiDocument, PathOperation } from '@convoke/contract';
import { type Html, html, join, prose, raw } from './html.ts';
import { methodBadge, operationSection, type Place } from './operation-section.ts';
import {
  conventions,
  errorsSection,
  eventsSection,
  introduction,
  schemasSection,
  scopesSection,
} from './sections.ts';
import { styleSheet } from './style.ts';

type Entry = Place & { readonly operation: PathOperation };

/**
 * Renders the API as one page without scripts, fonts and images. It works under
 * `Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'`.
 */
export function renderApiPage(document: OpenApiDocument): string {
  const { title, version, summary } = document.info;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API ${version}</title>
<style>${raw(styleSheet)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${sidebar(document)}
<main id="main">
<header class="masthead">
<p class="eyebrow">API reference <span class="version">${version}</span></p>
<h1>${title}</h1>
<p class="tagline">${summary} <a href="openapi.json">OpenAPI 3.1 document</a></p>
</header>
${introduction(document)}
${conventions(document)}
${document.tags.map((tag) => group(document, tag))}
${eventsSection(document)}
${schemasSection(document)}
${scopesSection()}
${errorsSection()}
</main>
</body>
</html>
`;
  return page.markup;
}

function sidebar(document: OpenApiDocument): Html {
  const groups = document.tags.map(
    ({ name }) => html`
<li><a class="group" href="#${anchor(name)}">${name}</a><ul>${entriesOf(document, name).map(sidebarItem)}</ul></li>`,
  );
  return html`
<nav class="sidebar" aria-label="Contents">
<a class="brand" href="#main">${document.info.title}</a>
<ul class="contents">
<li><a class="group" href="#conventions">Conventions</a></li>
${groups}
<li><a class="group" href="#events">Run events</a></li>
<li><a class="group" href="#schemas">Resources</a></li>
<li><a class="group" href="#scopes">Scopes and profiles</a></li>
<li><a class="group" href="#errors">Error codes</a></li>
</ul>
</nav>`;
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
<h2>${tag.name}</h2>
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
