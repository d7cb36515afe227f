import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Heading, type RenderedMarkdown, renderMarkdown } from './markdown.ts';

export type Guide = RenderedMarkdown & {
  readonly name: string;
  readonly title: string;
  readonly group: string;
};

/** The guides in reading order. One that is not listed comes last. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Get started': ['concepts', 'console', 'write-an-agent', 'stdio-agents', 'other-runtimes'],
  'Build on it': ['stream-to-a-browser', 'generate-a-client'],
  'Run it': ['operate', 'people', 'cluster', 'move-a-deployment', 'settings'],
  'Extend it': ['add-an-endpoint', 'add-a-harness', 'add-a-migration', 'glossary'],
};

/** What a guide links to in the repository, and where it is on the server. */
const elsewhere: Readonly<Record<string, string>> = {
  'openapi.json': 'openapi.json',
  'errors.md': 'docs#errors',
  'scopes.md': 'docs#scopes',
};

/** Pages outside the folder of guides that are served with them. */
const others = ['glossary.md', 'reference/settings.md'];

let read: readonly Guide[] | undefined;

/** Reads and renders the guides once. */
export function allGuides(): readonly Guide[] {
  read ??= readGuides(docsFolder());
  return read;
}

/** The published package contains a copy of the guides; a checkout has them in `docs`. */
function docsFolder(): string {
  const copied = fileURLToPath(new URL('../docs', import.meta.url));
  return existsSync(copied) ? copied : fileURLToPath(new URL('../../../../docs', import.meta.url));
}

function readGuides(folder: string): Guide[] {
  const own = readdirSync(join(folder, 'guides')).filter((name) => name.endsWith('.md'));
  const files = [...own.map((name) => `guides/${name}`), ...others];
  const names = new Set(files.map((file) => basename(file, '.md')));
  const guides = files.map((file) => readGuide(join(folder, file), names));
  const order = Object.values(groups).flat();
  const rank = ({ name }: Guide) => (order.includes(name) ? order.indexOf(name) : order.length);
  return guides.toSorted((a, b) => rank(a) - rank(b) || (a.title < b.title ? -1 : 1));
}

function readGuide(file: string, names: ReadonlySet<string>): Guide {
  const name = basename(file, '.md');
  const text = readFileSync(file, 'utf8');
  const rendered = renderMarkdown(text, (target) => addressOf(target, names));
  const group = Object.entries(groups).find(([, members]) => members.includes(name))?.[0];
  return { ...rendered, name, title: titleOf(rendered.headings), group: group ?? 'More' };
}

/** Links between guides stay between them; a link to a file that is not served loses its link. */
function addressOf(target: string, names: ReadonlySet<string>): string | undefined {
  if (/^https?:/.test(target) || target.startsWith('#')) return target;
  const [path = '', anchor] = target.split('#', 2);
  const file = basename(path);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  const known = elsewhere[file];
  if (known !== undefined) return `../../${known}`;
  const isGuide =
    /^(\.\.\/guides\/|\.\.\/reference\/|\.\.\/)?[a-z-]+\.md$|^guides\/[a-z-]+\.md$/.test(path);
  return isGuide && names.has(basename(file, '.md'))
    ? `${basename(file, '.md')}${hash}`
    : undefined;
}

function titleOf([first]: readonly Heading[]): string {
  return first?.text ?? 'Guide';
}
