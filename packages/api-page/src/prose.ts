import { type Html, html, joinHtml } from '@convoke/contract';

/** Renders a sentence in which backticks mark code. */
export function prose(sentence: string): Html {
  const pieces = sentence.split('`');
  return joinHtml(
    pieces.map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`)),
  );
}

/** A link of a heading to itself. */
export function anchorLink(id: string): Html {
  return html` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
}

export const nothing: Html = html``;
