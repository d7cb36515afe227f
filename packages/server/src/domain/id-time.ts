/** Sorted by code unit, so that the text of a UUID orders as its bytes do. */
export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';

const timeDigits = 10;

/** D-01: the 48 bits of time are an id's first ten digits, with two bits to spare. */
export function timeText(ms: number): string {
  let text = '';
  for (let rest = ms; text.length < timeDigits; rest = Math.floor(rest / 32)) {
    text = idAlphabet.charAt(rest % 32) + text;
  }
  return text;
}

/** The moment that ten digits stand for. */
export function timeOfText(text: string): number {
  let ms = 0;
  for (const digit of text) ms = ms * 32 + idAlphabet.indexOf(digit);
  return ms;
}
