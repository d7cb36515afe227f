/**
 * Markup of the pages that a server renders: sign-in, account and `/docs`. The class is not exported: only the
 * functions of this file make it, so that text from outside cannot become markup by a forgotten call.
 */
class Markup {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  get markup(): string {
    return this.#markup;
  }
}

export type Html = Markup;

type Part = Html | string | number | undefined | readonly Html[];

/** Builds markup; escapes every part that is not markup. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let markup = strings[0] ?? '';
  parts.forEach((part, index) => {
    markup += render(part) + (strings[index + 1] ?? '');
  });
  return new Markup(markup);
}

export function joinHtml(parts: readonly Html[], separator = ''): Html {
  return new Markup(parts.map(({ markup }) => markup).join(separator));
}

/** For text that the program itself contains, such as a style sheet. */
export function rawHtml(markup: string): Html {
  return new Markup(markup);
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.markup;
  return typeof part === 'object' ? joinHtml(part).markup : escape(String(part));
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
