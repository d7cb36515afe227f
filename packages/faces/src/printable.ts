import type { Json } from './json.ts';

/** Controls, and invisible characters that change how the text around them is read: marks of direction and format. */
const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
/** A line break and a tab do what they say; the others join letters and emoji. */
const harmless: ReadonlySet<string> = new Set(['\n', '\t', '\u200c', '\u200d']);

/** Text of an agent for a person: a character that could deceive is shown as its code, `⟨U+202E⟩`. */
export function printable(text: string): string {
  return replaceDeceptive(text.replaceAll('\r', ''), (found) => `⟨U+${codeOf(found)}⟩`);
}

/** Replaces each character that controls a terminal, or that could deceive its reader. */
export function replaceDeceptive(text: string, replacement: (found: string) => string): string {
  return text.replaceAll(invisible, (found) => (harmless.has(found) ? found : replacement(found)));
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/** The most that a form shows of a call. A longer input is approved in a place that shows it whole. */
const shownMax = 8000;

/** Renders the input of a call for a person who decides on it; undefined if a form could not show all of it (D-395). */
export function inputText(input: Json | undefined): string | undefined {
  const text = printable(JSON.stringify(input ?? {}, null, 2));
  return text.length > shownMax ? undefined : text;
}
