import { plainText } from '../plain-text.ts';
import type { RenderedMarkdown } from './markdown.ts';

/** A heading and the text below it, up to the next heading: a hit of the search. */
export type Section = {
  readonly level: number;
  readonly id: string;
  readonly heading: string;
  readonly text: string;
};

export function sectionsOf({ body, headings }: RenderedMarkdown): Section[] {
  const [, ...parts] = body.markup.split(/<h[1-6] id="[^"]*">/);
  return headings.map(({ level, id, text }, at) => {
    const [, below = ''] = (parts[at] ?? '').split(/<\/h[1-6]>/, 2);
    return { level, id, heading: text, text: plainText({ markup: below }) };
  });
}
