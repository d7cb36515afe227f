import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts with AES-256-GCM. `name` is authenticated too, so a sealed text cannot be moved to another record. */
export interface Sealing {
  seal(name: string, text: string): string;
  /** Undefined when the text was altered, or sealed with another key or name. */
  unseal(name: string, sealed: string): string | undefined;
}

export function createSealing(key: Uint8Array): Sealing {
  return {
    seal(name, text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    },
    unseal(name, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < nonceBytes + tagBytes) return undefined;
      const nonce = bytes.subarray(0, nonceBytes);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(name));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const body = bytes.subarray(nonceBytes + tagBytes);
      try {
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}

const nonceBytes = 12;
const tagBytes = 16;
