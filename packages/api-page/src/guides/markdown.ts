import { type Html, html, joinHtml } from '@convoke/contract';
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { anchorLink, nothing } from '../prose.ts';
import { codeBlock } from '../samples/samples.ts';

export type Heading = { readonly level: number; readonly id: string; readonly text: string };

export type RenderedMarkdown = {
  readonly body: Html;
  readonly headings: readonly Heading[];
};

/** Returns the address of a link, or undefined where it leads to something that is not served. */
export type ResolveLink = (target: string) => string | undefined;

/** Renders a guide. HTML in it stays text, so that a guide cannot put a script into the page; comments are left out. */
export function renderMarkdown(text: string, resolve: ResolveLink): RenderedMarkdown {
  const headings: Heading[] = [];
  return { body: renderAll(lexer(text), { resolve, headings }, '\n'), headings };
}

type Context = { readonly resolve: ResolveLink; readonly headings: Heading[] };

function renderAll(tokens: readonly Token[], context: Context, separator = ''): Html {
  const parts = tokens.map((token) => render(token as MarkedToken, context));
  return joinHtml(parts, separator);
}

function render(token: MarkedToken, context: Context): Html {
  switch (token.type) {
    case 'heading':
      return renderHeading(token, context);
    case 'paragraph':
      return html`<p>${renderAll(token.tokens, context)}</p>`;
    case 'text':
      return token.tokens === undefined ? html`${token.text}` : renderAll(token.tokens, context);
    case 'code':
      return codeBlock(token.text);
    case 'blockquote':
      return html`<blockquote>${renderAll(token.tokens, context)}</blockquote>`;
    case 'list':
      return renderList(token, context);
    case 'list_item':
      return html`<li>${renderItem(token, context)}</li>`;
    case 'table':
      return renderTable(token, context);
    case 'codespan':
      return html`<code>${token.text}</code>`;
    case 'strong':
      return html`<strong>${renderAll(token.tokens, context)}</strong>`;
    case 'em':
      return html`<em>${renderAll(token.tokens, context)}</em>`;
    case 'link':
      return renderLink(token, context);
    case 'escape':
      return html`${token.text}`;
    case 'space':
      return nothing;
    case 'html':
      return token.raw.startsWith('<!--') ? nothing : html`${token.raw}`;
    case 'br':
    case 'checkbox':
    case 'def':
    case 'del':
    case 'hr':
    case 'image':
      // No guide has an image, a rule, a struck text or a check box: a test finds any that was not rendered.
      return html`${token.raw}`;
  }
}

function renderHeading({ depth, text, tokens }: Tokens.Heading, context: Context): Html {
  const id = anchorOf(text);
  context.headings.push({ level: depth, id, text: text.replaceAll('`', '') });
  return html`<h${depth} id="${id}">${renderAll(tokens, context)}${anchorLink(id)}</h${depth}>`;
}

/** Returns the anchor of a heading as code hosts make it. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function renderList({ ordered, items }: Tokens.List, context: Context): Html {
  const inner = renderAll(items, context);
  return ordered ? html`<ol>${inner}</ol>` : html`<ul>${inner}</ul>`;
}

/** The first paragraph of an item stays without its own element, so that short items are close together. */
function renderItem({ tokens }: Tokens.ListItem, context: Context): Html {
  const [first, ...rest] = tokens;
  if (first?.type !== 'paragraph') return renderAll(tokens, context);
  return html`${renderAll(first.tokens ?? [], context)}${renderAll(rest, context)}`;
}

function renderTable({ header, rows }: Tokens.Table, context: Context): Html {
  const heads = header.map(({ text, tokens }) =>
    text === '' ? html`<td></td>` : html`<th scope="col">${renderAll(tokens, context)}</th>`,
  );
  const hasHead = header.some(({ text }) => text !== '');
  const body = rows.map((cells) => {
    const inner = cells.map(({ tokens }) => html`<td>${renderAll(tokens, context)}</td>`);
    return html`<tr>${inner}</tr>`;
  });
  return html`<div class="scroll"><table class="guide">${hasHead ? html`<thead><tr>${heads}</tr></thead>` : nothing}<tbody>${body}</tbody></table></div>`;
}

function renderLink({ href, tokens }: Tokens.Link, context: Context): Html {
  const inner = renderAll(tokens, context);
  const address = context.resolve(href);
  return address === undefined ? inner : html`<a href="${address}">${inner}</a>`;
}
