import type { ResolveLink } from './markdown.ts';

/** Pages of a server that have no Markdown. */
const withoutMarkdown = /^(https?:|#)|\.json$/;

/**
 * A guide as Markdown, with the links of a server: each leads to the Markdown of the other page. A link to a file that
 * is not served becomes its text. Code stays as it is.
 */
export function withLinks(text: string, resolve: ResolveLink): string {
  return text
    .split(/^(```[^]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : linked(part, resolve)))
    .join('');
}

function linked(text: string, resolve: ResolveLink): string {
  return text.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (_, label: string, target: string) => {
    const address = resolve(target);
    return address === undefined ? label : `[${label}](${markdownOf(address)})`;
  });
}

function markdownOf(address: string): string {
  if (withoutMarkdown.test(address)) return address;
  const [path = '', anchor] = address.split('#', 2);
  return anchor === undefined ? `${path}.md` : `${path}.md#${anchor}`;
}
