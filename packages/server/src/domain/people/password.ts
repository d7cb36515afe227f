import { limits } from '@convoke/contract';
import { type Ruling, accepted, refused } from '../refusal.ts';

/** Only the length is checked: rules about characters make passwords weaker in practice. */
export const { passwordMinCharacters } = limits;
const { passwordMaxCharacters } = limits;

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
