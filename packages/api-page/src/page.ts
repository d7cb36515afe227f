import { createHash } from 'node:crypto';
import { brandMark, type Html, html, rawHtml } from '@convoke/contract';
import { pageScript } from './page-script.ts';
import { searchDialog } from './search/dialog.ts';
import { styleSheet } from './style.ts';

export type Page = {
  readonly title: string;
  readonly brand: string;
  /** The way from this page to the root of the server: `./` or `../../`. */
  readonly root: string;
  readonly contents: Html;
  /** The address of the same page as Markdown. */
  readonly markdown: string;
  readonly main: Html;
};

/**
 * The policy of every page: only the page's own style and script are used, which are known by their digests, and
 * nothing is loaded but the index of the search, from this server. Every page works without the script.
 */
export const pagePolicy = [
  "default-src 'none'",
  `style-src '${digestOf(styleSheet)}'`,
  `script-src '${digestOf(pageScript)}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders the frame that all pages share: the head, the contents beside the text, and the search. */
export function renderPage({ title, brand, root, contents, markdown, main }: Page): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${rawHtml(styleSheet)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<nav class="sidebar" aria-label="Contents">
<a class="brand" href="${root}docs">${rawHtml(brandMark)}${brand}</a>
<button type="button" class="open-search">Search <kbd>⌘K</kbd></button>
<button type="button" class="open-contents" aria-expanded="false">Contents</button>
${contents}
</nav>
<main id="main">
${main}
<p class="quiet"><a href="${markdown}" type="text/markdown">This page as Markdown</a> · <a href="${root}llms.txt" type="text/plain">All pages for coding agents</a></p>
</main>
${searchDialog(root)}
<script>${rawHtml(pageScript)}</script>
</body>
</html>
`;
  return page.markup;
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
