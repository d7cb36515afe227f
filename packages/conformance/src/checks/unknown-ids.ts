import { randomBytes } from 'node:crypto';

const letters = 'abcdefghjkmnpqrstvwxyz0123456789';

/** An id of the same form that was never issued: the last characters are others. */
export function alike(id: string): string {
  const count = Math.min(10, Math.max(1, id.length - 4));
  const end = Array.from(randomBytes(count), (byte) => letters[byte % letters.length]).join('');
  return id.slice(0, -count) + end;
}
