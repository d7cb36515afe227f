import { dirname, join, relative } from 'node:path/posix';
import type { OpenApiDocument } from '@convoke/contract';
import type { Docs } from './api-page.ts';
import { pagePolicy } from './page.ts';
import type { SearchIndex } from './search/rank.ts';

/** A server sends the policy as a header; this directive is the one that a page cannot set itself. */
const onlyInHeaders = "; frame-ancestors 'none'";

/**
 * The pages of `/docs` as files for any web server, by their paths: links are relative and name files, and the search
 * reads its index from one of them. The policy is in each page, since such a server sends no header.
 */
export function staticSite(docs: Docs, document: OpenApiDocument): ReadonlyMap<string, string> {
  const files = new Map([['openapi.json', JSON.stringify(document)]]);
  files.set(fileOf('docs/search'), JSON.stringify(withFiles(docs.searchIndex())));
  for (const path of docs.paths) {
    files.set(fileOf(path), withPolicy(linkedToFiles(docs.render(path) ?? '', path)));
    const markdown = `${path}.md`;
    files.set(fileOf(markdown), withMarkdownLinks(docs.markdown(path) ?? '', markdown));
  }
  files.set('llms.txt', withMarkdownLinks(docs.list(), 'llms.txt'));
  files.set('llms-full.txt', docs.whole());
  return files;
}

/** The file for the page that a server has at this path. */
function fileOf(path: string): string {
  if (path === 'docs') return 'index.html';
  if (path === 'docs.md') return 'index.md';
  if (path === 'docs/search') return 'search.json';
  if (!path.startsWith('docs/')) return path;
  const name = path.slice('docs/'.length);
  return name.endsWith('.md') ? name : `${name}.html`;
}

/** Rewrites the links of a page, from paths on a server to files of the site. */
function linkedToFiles(page: string, path: string): string {
  const from = dirname(fileOf(path));
  const root = from === '.' ? './' : `${relative(from, '')}/`;
  return page
    .replaceAll(/(?<= (?:href|data-index)=")[^"#]+/g, (target: string) =>
      /^[a-z]+:/.test(target) ? target : relative(from, fileOf(join(dirname(path), target))),
    )
    .replace(/(?<= data-root=")[^"]*/, root);
}

/** The same for Markdown. */
function withMarkdownLinks(text: string, path: string): string {
  const from = dirname(fileOf(path));
  return text.replaceAll(/(?<=\]\()[^)#\s]+/g, (target: string) =>
    /^[a-z]+:/.test(target) ? target : relative(from, fileOf(join(dirname(path), target))),
  );
}

function withPolicy(page: string): string {
  const policy = pagePolicy.replace(onlyInHeaders, '');
  const meta = `<meta http-equiv="content-security-policy" content="${policy}">`;
  return page.replace('<meta charset="utf-8">', `<meta charset="utf-8">\n${meta}`);
}

/** The index with the files of its entries instead of their paths on a server. */
function withFiles(text: string): SearchIndex {
  const index = JSON.parse(text) as SearchIndex;
  const entries = index.entries.map(([kind, title, context, excerpt, href]) => {
    const [path = '', anchor] = href.split('#', 2);
    const address = anchor === undefined ? fileOf(path) : `${fileOf(path)}#${anchor}`;
    return [kind, title, context, excerpt, address] as const;
  });
  return { ...index, entries };
}
