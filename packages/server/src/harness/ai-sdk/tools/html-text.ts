import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** Elements whose content a reader does not see. */
const hidden = new Set(['script', 'style', 'noscript', 'svg', 'template']);
/** Elements that end a line. */
const blocks = /^(p|div|li|tr|h[1-6]|section|article)$/;

/**
 * Returns the text of a page, for a model to read. It uses the tokenizer of htmlparser2, not its parser: the parser
 * keeps a stack of open elements and takes quadratic time when a page never closes them.
 */
export function textOfHtml(html: string): string {
  const text = new TextCollector(html);
  const tokenizer = new Tokenizer({ decodeEntities: true }, text);
  tokenizer.write(html);
  tokenizer.end();
  return text
    .join()
    .replaceAll(/[ \t\r\f\u00a0]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

class TextCollector implements TokenizerCallbacks {
  readonly #html: string;
  readonly #pieces: string[] = [];
  /** The element whose end ends the hidden part. */
  #hiddenBy: string | undefined;
  /** True from the name of the tag that hides until that tag ends. */
  #isHidingTagOpen = false;

  constructor(html: string) {
    this.#html = html;
  }

  join(): string {
    return this.#pieces.join('');
  }

  ontext(start: number, end: number): void {
    this.#push(this.#html.slice(start, end));
  }

  ontextentity(codePoint: number): void {
    this.#push(String.fromCodePoint(codePoint));
  }

  onopentagname(start: number, end: number): void {
    const name = this.#name(start, end);
    if (name === 'br') this.#push('\n');
    if (this.#hiddenBy !== undefined || !hidden.has(name)) return;
    this.#hiddenBy = name;
    this.#isHidingTagOpen = true;
  }

  onclosetag(start: number, end: number): void {
    const name = this.#name(start, end);
    if (name === this.#hiddenBy) this.#hiddenBy = undefined;
    else if (blocks.test(name)) this.#push('\n');
  }

  onattribdata(): void {}
  onattribentity(): void {}
  onattribend(): void {}
  onattribname(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onopentagend(): void {
    this.#isHidingTagOpen = false;
  }
  onprocessinginstruction(): void {}
  /** `<svg/>` has no content. HTML has no other self-closing element among the hidden ones. */
  onselfclosingtag(): void {
    if (this.#isHidingTagOpen && this.#hiddenBy === 'svg') this.#hiddenBy = undefined;
    this.#isHidingTagOpen = false;
  }

  #name(start: number, end: number): string {
    return this.#html.slice(start, end).toLowerCase();
  }

  #push(text: string): void {
    if (this.#hiddenBy === undefined) this.#pieces.push(text);
  }
}
