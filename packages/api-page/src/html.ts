/** Escaped markup. */
export type Html = { readonly markup: string };

type Part = Html | string | number | undefined | readonly Html[];

/** Builds markup; escapes every part that is not markup. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let markup = strings[0] ?? '';
  parts.forEach((part, index) => {
    markup += render(part) + (strings[index + 1] ?? '');
  });
  return { markup };
}

/** Renders a sentence in which backticks mark code. */
export function prose(sentence: string): Html {
  const pieces = sentence.split('`');
  return join(
    pieces.map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`)),
  );
}

export function join(parts: readonly Html[], separator = ''): Html {
  return { markup: parts.map((part) => part.markup).join(separator) };
}

/** For text this package wrote itself, such as the style sheet. */
export function raw(markup: string): Html {
  return { markup };
}

/** A link of a heading to itself. */
export function anchorLink(id: string): Html {
  return html` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
}

export const nothing: Html = { markup: '' };

function render(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part));
  return 'markup' in part ? part.markup : join(part).markup;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
