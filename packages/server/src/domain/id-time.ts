/** Crockford base32 as TypeID uses it. Sorted by code unit, so ids order as their UUIDv7 bytes do. */
export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';

const timeDigits = 10;

/** D-01: the first ten digits of an id encode its 48 bits of time. */
export function timeText(ms: number): string {
  let text = '';
  for (let rest = ms; text.length < timeDigits; rest = Math.floor(rest / 32)) {
    text = idAlphabet.charAt(rest % 32) + text;
  }
  return text;
}

/** The time in an id, in milliseconds. */
export function timeOfId(id: string): number {
  const digits = id.indexOf('_') + 1;
  return timeOfText(id.slice(digits, digits + timeDigits));
}

/** The time that ten digits encode, in milliseconds. */
export function timeOfText(text: string): number {
  let ms = 0;
  for (const digit of text) ms = ms * 32 + idAlphabet.indexOf(digit);
  return ms;
}
