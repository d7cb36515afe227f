import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { type Heading, type RenderedMarkdown, renderMarkdown } from './markdown.ts';
import { type Section, sectionsOf } from './sections.ts';
import { withLinks } from './markdown-links.ts';

export type Guide = RenderedMarkdown & {
  readonly name: string;
  readonly title: string;
  readonly group: string;
  /** The description in the list of all pages. */
  readonly about: string;
  /** From the root of the server. */
  readonly path: string;
  readonly sections: readonly Section[];
  /** The guide as Markdown. Its links lead to the Markdown of other pages. */
  readonly markdown: string;
};

/** The guide that `/docs` opens with. */
const startGuide = 'start';

/** The list of all pages; its headings are the groups of the contents, and its links their order. */
const indexPage = 'docs/README.md';

/** Links of guides into the repository, and their addresses on the server. */
const elsewhere: Readonly<Record<string, string>> = {
  'docs/README.md': 'docs',
  'docs/reference/openapi.json': 'openapi.json',
  'docs/reference/errors.md': 'docs/reference/errors',
  'docs/reference/scopes.md': 'docs/reference/scopes',
};

/** Pages about the repository, which a server does not have. */
const notServed = /^(docs\/(decisions|adr)\/|[A-Z]+\.md$)/;

let read: readonly Guide[] | undefined;

/** Reads and renders the guides once. */
export function allGuides(): readonly Guide[] {
  read ??= readGuides(pagesFolder());
  return read;
}

/** The files that a package has to contain, as paths in the repository. */
export function guideFiles(folder: string): string[] {
  return [indexPage, ...listed(folder).map(({ file }) => file)];
}

/** The published package contains a copy of the pages; a checkout has them. */
function pagesFolder(): string {
  const copied = fileURLToPath(new URL('../pages', import.meta.url));
  return existsSync(copied) ? copied : fileURLToPath(new URL('../../../..', import.meta.url));
}

type ListedGuide = {
  readonly file: string;
  readonly group: string;
  readonly label: string;
  readonly about: string;
};

function listed(folder: string): ListedGuide[] {
  const found: ListedGuide[] = [];
  let group = '';
  for (const line of readFileSync(join(folder, indexPage), 'utf8').split('\n')) {
    group = /^## (.+)$/.exec(line)?.[1] ?? group;
    const [, cell = '', about = ''] = /^\|([^|]+)\|([^|]+)\|/.exec(line) ?? [];
    for (const [, label = '', target = ''] of cell.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)) {
      const file = join(dirname(indexPage), target);
      if (notServed.test(file) || file in elsewhere) continue;
      found.push({ file, group, label, about: about.trim() });
    }
  }
  return found;
}

function readGuides(folder: string): Guide[] {
  const pages = listed(folder);
  const names = new Map(pages.map(({ file }) => [file, nameOf(file)]));
  return pages.map(({ file, group, label, about }) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const name = nameOf(file);
    const path = pathOf(name);
    const resolve = (target: string) => addressOf(target, { file, path, names });
    const rendered = renderMarkdown(text, resolve);
    // A README is headed with the name of its package.
    const isReadme = basename(file) === 'README.md';
    const title = isReadme ? capitalized(label) : titleOf(rendered.headings);
    const markdown = withLinks(text, resolve);
    const sections = sectionsOf(rendered);
    return { ...rendered, name, title, group, about, path, sections, markdown };
  });
}

/** A README is named after its folder. */
function nameOf(file: string): string {
  return basename(file) === 'README.md' ? basename(dirname(file)) : basename(file, '.md');
}

function pathOf(name: string): string {
  return name === startGuide ? 'docs' : `docs/guides/${name}`;
}

type From = {
  readonly file: string;
  readonly path: string;
  readonly names: ReadonlyMap<string, string>;
};

/** Links between guides stay between them; a link to a file that is not served loses its link. */
function addressOf(target: string, { file: from, path, names }: From): string | undefined {
  if (/^https?:/.test(target) || target.startsWith('#')) return target;
  const [place = '', anchor] = target.split('#', 2);
  const file = normalize(join(dirname(from), place));
  const name = names.get(file);
  const served = elsewhere[file] ?? (name === undefined ? undefined : pathOf(name));
  if (served === undefined) return undefined;
  const root = path === 'docs' ? './' : '../../';
  return anchor === undefined ? root + served : `${root}${served}#${anchor}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function titleOf([first]: readonly Heading[]): string {
  return first?.text ?? 'Guide';
}
