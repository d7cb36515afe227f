import type { Json } from '@convoke/sdk';
import { printable } from '../terminal/output.ts';

/** What a dialog of an editor or an assistant shows of a call. A longer input is approved where all of it is shown. */
const shownMax = 8000;

/** Renders the input of a call for a person who decides on it; undefined if a dialog could not show all of it (D-395). */
export function inputText(input: Json | undefined): string | undefined {
  const text = printable(JSON.stringify(input ?? {}, null, 2));
  return text.length > shownMax ? undefined : text;
}
