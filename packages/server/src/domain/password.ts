import { type Ruling, accepted, refused } from './refusal.ts';

/** Length is what protects a password; rules about its characters only make people write it down. */
export const passwordMinCharacters = 12;
const passwordMaxCharacters = 256;

export function readPassword(text: string): Ruling<string> {
  const characters = Array.from(text).length;
  if (characters >= passwordMinCharacters && characters <= passwordMaxCharacters) {
    return accepted(text.normalize('NFC'));
  }
  return refused(
    'invalid_body',
    `A password must have ${passwordMinCharacters} to ${passwordMaxCharacters} characters.`,
  );
}
