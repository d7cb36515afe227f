import type { Token, Tokens } from 'marked';
import { printable } from '../formats.ts';

/**
 * What agents write, as a tree of the few elements that the console shows. The text is hostile: HTML stays text, an
 * image is shown as its address and never loaded, and only links to the web and to mail remain links.
 */
export type MarkdownNode = string | MarkdownElement;

export interface MarkdownElement {
  readonly tag: MarkdownTag;
  readonly children: readonly MarkdownNode[];
  /** Only on links. */
  readonly href?: string;
  /** Only on ordered lists that do not begin at 1. */
  readonly start?: number;
  /** Only on code blocks: the language that the agent named. */
  readonly language?: string;
  /** Only on text that is shown as it was written, with its line breaks. */
  readonly isPlain?: boolean;
}

export type MarkdownTag =
  | 'p'
  | 'h3'
  | 'h4'
  | 'ul'
  | 'ol'
  | 'li'
  | 'pre'
  | 'code'
  | 'blockquote'
  | 'hr'
  | 'table'
  | 'thead'
  | 'tbody'
  | 'tr'
  | 'th'
  | 'td'
  | 'strong'
  | 'em'
  | 's'
  | 'a'
  | 'br'
  | 'span';

/** Nested deeper than a person reads; further levels become text. */
const maxDepth = 24;

export function markdownTree(tokens: readonly Token[], depth = 0): MarkdownNode[] {
  if (depth > maxDepth) return tokens.map((token) => printable(token.raw));
  return tokens.flatMap((token) => nodesOf(token as Tokens.Generic & Token, depth + 1));
}

function nodesOf(token: Token, depth: number): MarkdownNode[] {
  const known = token as
    | Tokens.Paragraph
    | Tokens.Heading
    | Tokens.List
    | Tokens.Code
    | Tokens.Blockquote
    | Tokens.Table
    | Tokens.Strong
    | Tokens.Em
    | Tokens.Del
    | Tokens.Codespan
    | Tokens.Link
    | Tokens.Image
    | Tokens.Text
    | Tokens.Escape
    | Tokens.Br
    | Tokens.Hr
    | Tokens.Space
    | Tokens.HTML;
  switch (known.type) {
    case 'space':
      return [];
    case 'paragraph':
      return [element('p', markdownTree(known.tokens, depth))];
    case 'heading':
      return [element(known.depth <= 2 ? 'h3' : 'h4', markdownTree(known.tokens, depth))];
    case 'list':
      return [listOf(known, depth)];
    case 'code':
      return [codeBlock(known.text, known.lang ?? '')];
    case 'blockquote':
      return [element('blockquote', markdownTree(known.tokens, depth))];
    case 'table':
      return [tableOf(known, depth)];
    case 'strong':
      return [element('strong', markdownTree(known.tokens, depth))];
    case 'em':
      return [element('em', markdownTree(known.tokens, depth))];
    case 'del':
      return [element('s', markdownTree(known.tokens, depth))];
    case 'codespan':
      return [element('code', [printable(known.text)])];
    case 'link':
      return linkOf(known, depth);
    case 'image':
      return [printable(`[image ${known.text}: ${known.href}]`)];
    case 'br':
      return [element('br', [])];
    case 'hr':
      return [element('hr', [])];
    case 'text':
      return 'tokens' in known && known.tokens !== undefined
        ? markdownTree(known.tokens, depth)
        : [printable(known.text)];
    case 'escape':
      return [printable(known.text)];
    case 'html':
    default:
      // HTML, definitions, and whatever a later version of the parser may know: the text as it was written.
      return [printable(token.raw)];
  }
}

function element(tag: MarkdownTag, children: readonly MarkdownNode[]): MarkdownElement {
  return { tag, children };
}

function listOf(list: Tokens.List, depth: number): MarkdownElement {
  const items = list.items.map((item) => {
    const mark = item.task ? [item.checked === true ? '☑ ' : '☐ '] : [];
    return element('li', [...mark, ...markdownTree(item.tokens, depth)]);
  });
  if (!list.ordered) return element('ul', items);
  const start = typeof list.start === 'number' && list.start !== 1 ? { start: list.start } : {};
  return { tag: 'ol', children: items, ...start };
}

/** A block of code, and the words after its fence. */
export function codeBlock(text: string, words: string): MarkdownElement {
  const language = /^[\w+#.-]{1,20}/.exec(words)?.[0];
  return {
    tag: 'pre',
    children: [element('code', [printable(text)])],
    ...(language === undefined ? {} : { language }),
  };
}

function tableOf(table: Tokens.Table, depth: number): MarkdownElement {
  const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
    element(
      'tr',
      cells.map((cell) => element(tag, markdownTree(cell.tokens, depth))),
    );
  return element('table', [
    element('thead', [row(table.header, 'th')]),
    element(
      'tbody',
      table.rows.map((cells) => row(cells, 'td')),
    ),
  ]);
}

/** A link shows its host unless its text is that address, so that a text cannot pretend to lead elsewhere. */
function linkOf(link: Tokens.Link, depth: number): MarkdownNode[] {
  const words = markdownTree(link.tokens, depth);
  const target = safeTarget(link.href);
  if (target === undefined) return [...words, printable(` (${link.href})`)];
  const anchor: MarkdownElement = { tag: 'a', children: words, href: target.href };
  const isShown = addressedHost(textOf(words)) === target.host;
  return isShown ? [anchor] : [anchor, element('span', [` (${printable(target.host)})`])];
}

/**
 * The host that a person reads in a text which is an address and nothing else, with or without `https://`. It is
 * compared as it is written, not as a parser reads it: letters of other scripts, user info and numbers in place of
 * names all look like a host that they are not.
 */
function addressedHost(text: string): string | undefined {
  const mail = /^(?:mailto:)?([^?@\s]+@[^?@\s]+)$/.exec(text);
  if (mail !== null) return mail[1];
  if (!/^[!-~]+$/.test(text)) return undefined;
  return /^(?:https?:\/\/)?([^/?#]*)/i.exec(text)?.[1]?.toLowerCase();
}

/** Only `http`, `https` and `mailto`, without user info; `undefined` for everything else. */
export function safeTarget(address: string): { href: string; host: string } | undefined {
  if (/[\u0000-\u0020\\]/.test(address)) return undefined;
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return undefined;
  }
  if (url.protocol === 'mailto:') return { href: url.href, host: url.pathname };
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  return { href: url.href, host: url.host };
}

function textOf(nodes: readonly MarkdownNode[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textOf(node.children))).join('');
}
