import { type Html, html, joinHtml, rawHtml } from '@convoke/contract';
import { anchorLink, nothing } from '../prose.ts';
import { codeBlock } from '../samples/samples.ts';
import { type ResolveLink, renderInline } from './inline.ts';

export type Heading = { readonly level: number; readonly id: string; readonly text: string };

export type RenderedMarkdown = {
  readonly body: Html;
  readonly headings: readonly Heading[];
};

/**
 * Renders the part of Markdown that our guides use: headings, paragraphs, lists, tables, quotes and fenced code. It has no
 * raw HTML, so a guide cannot put a script into the page.
 */
export function renderMarkdown(text: string, resolve: ResolveLink): RenderedMarkdown {
  const headings: Heading[] = [];
  const context = { resolve, headings };
  return { body: renderBlocks(text.split('\n'), context), headings };
}

type Context = { readonly resolve: ResolveLink; readonly headings: Heading[] };

type Block = { readonly markup: Html; readonly next: number };

const fence = /^(```|~~~)/;
const heading = /^(#{1,6}) +(.+?) *#*$/;
const item = /^(-|\d+\.) +/;

function renderBlocks(lines: readonly string[], context: Context): Html {
  const blocks: Html[] = [];
  for (let at = 0; at < lines.length; ) {
    const block = blockAt(lines, at, context);
    blocks.push(block.markup);
    at = block.next;
  }
  return joinHtml(blocks, '\n');
}

function blockAt(lines: readonly string[], at: number, context: Context): Block {
  const line = lines[at] ?? '';
  if (line.trim() === '' || line.startsWith('<!--')) return { markup: nothing, next: at + 1 };
  if (fence.test(line)) return fenced(lines, at);
  if (heading.test(line)) return { markup: headingOf(line, context), next: at + 1 };
  if (line.startsWith('|')) return table(lines, at, context);
  if (item.test(line)) return list(lines, at, context);
  if (line.startsWith('> ')) {
    const next = endOf(lines, at, (one) => one.startsWith('>'));
    const inner = lines.slice(at, next).map((one) => one.replace(/^> ?/, ''));
    return { markup: html`<blockquote>${renderBlocks(inner, context)}</blockquote>`, next };
  }
  const next = endOf(lines, at, (one) => one.trim() !== '' && !startsBlock(one));
  const text = lines.slice(at, next).join(' ');
  return { markup: html`<p>${renderInline(text, context.resolve)}</p>`, next };
}

function startsBlock(line: string): boolean {
  return fence.test(line) || heading.test(line) || line.startsWith('|') || item.test(line);
}

function endOf(lines: readonly string[], at: number, isPart: (line: string) => boolean): number {
  let next = at + 1;
  while (next < lines.length && isPart(lines[next] ?? '')) next += 1;
  return next;
}

function fenced(lines: readonly string[], at: number): Block {
  const mark = fence.exec(lines[at] ?? '')?.[1] ?? '```';
  const end = endOf(lines, at, (one) => !one.startsWith(mark));
  return { markup: codeBlock(lines.slice(at + 1, end).join('\n')), next: end + 1 };
}

function headingOf(line: string, { resolve, headings }: Context): Html {
  const [, marks = '', text = ''] = heading.exec(line) ?? [];
  const id = anchorOf(text);
  headings.push({ level: marks.length, id, text: text.replaceAll('`', '') });
  const tag = `h${marks.length}`;
  const inner = html`${renderInline(text, resolve)}${anchorLink(id)}`;
  return rawHtml(`<${tag} id="${id}">${inner.markup}</${tag}>`);
}

/** Returns the anchor of a heading as code hosts make it. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function table(lines: readonly string[], at: number, { resolve }: Context): Block {
  const next = endOf(lines, at, (one) => one.startsWith('|'));
  const [head = [], , ...rows] = lines.slice(at, next).map(cellsOf);
  const hasHead = head.some((cell) => cell !== '');
  const top = html`<thead><tr>${head.map((cell) => (cell === '' ? html`<td></td>` : html`<th scope="col">${renderInline(cell, resolve)}</th>`))}</tr></thead>`;
  const body = rows.map(
    (cells) => html`<tr>${cells.map((cell) => html`<td>${renderInline(cell, resolve)}</td>`)}</tr>`,
  );
  return {
    markup: html`<div class="scroll"><table class="guide">${hasHead ? top : nothing}<tbody>${body}</tbody></table></div>`,
    next,
  };
}

/** Splits a row at the bars that are neither escaped nor inside code. */
function cellsOf(row: string): string[] {
  const cells = row.match(/(?:\\\||`[^`]*`|[^|])+/g) ?? [];
  return cells.map((cell) => cell.replaceAll('\\|', '|').trim());
}

function list(lines: readonly string[], at: number, context: Context): Block {
  const isOrdered = /^\d/.test(lines[at] ?? '');
  const items: Html[] = [];
  let next = at;
  while (next < lines.length) {
    const line = lines[next] ?? '';
    const mark = item.exec(line);
    if (mark === null || /^\d/.test(line) !== isOrdered) break;
    const width = mark[0].length;
    const end = endOf(lines, next, (one) => one.trim() === '' || one.startsWith(' '));
    const inner = [
      line.slice(width),
      ...lines.slice(next + 1, end).map((one) => dedent(one, width)),
    ];
    items.push(html`<li>${renderItem(inner, context)}</li>`);
    next = end;
  }
  return { markup: isOrdered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`, next };
}

function dedent(line: string, width: number): string {
  return line.replace(new RegExp(`^ {1,${width}}`), '');
}

/** The first paragraph of an item stays without its own element, so that short items are close together. */
function renderItem(lines: readonly string[], context: Context): Html {
  const end = endOf(lines, 0, (one) => one.trim() !== '' && !startsBlock(one));
  const first = renderInline(lines.slice(0, end).join(' '), context.resolve);
  return html`${first}${renderBlocks(lines.slice(end), context)}`;
}
