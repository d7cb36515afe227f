import { type Html, html, joinHtml } from '@convoke/contract';

/** Returns the address of a link, or undefined where it leads to something that is not served. */
export type ResolveLink = (target: string) => string | undefined;

const span =
  /(?<ticks>`+)(?<code>.+?)\k<ticks>|\[(?<label>(?:`[^`]*`|[^\]])*)\]\((?<target>[^()\s]+)(?:\s+"[^"]*")?\)|\*\*(?<strong>.+?)\*\*|\*(?<weak>[^*\s][^*]*)\*|<(?<address>https?:[^>\s]+)>/g;

/** Renders code, links, bold and italic text inside a line. */
export function renderInline(text: string, resolve: ResolveLink): Html {
  const parts: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(span)) {
    parts.push(html`${text.slice(end, match.index)}`, renderSpan(match.groups ?? {}, resolve));
    end = match.index + match[0].length;
  }
  parts.push(html`${text.slice(end)}`);
  return joinHtml(parts);
}

function renderSpan(groups: Readonly<Record<string, string>>, resolve: ResolveLink): Html {
  const { code, label, target, strong, weak, address } = groups;
  if (code !== undefined) return html`<code>${code.trim()}</code>`;
  if (strong !== undefined) return html`<strong>${renderInline(strong, resolve)}</strong>`;
  if (weak !== undefined) return html`<em>${renderInline(weak, resolve)}</em>`;
  const href = resolve(target ?? address ?? '');
  const inner = label === undefined ? html`${address}` : renderInline(label, resolve);
  return href === undefined ? inner : html`<a href="${href}">${inner}</a>`;
}
