import type { ClientDocuments } from '../ports/sign-in/client-documents.ts';
import { type DocumentParts, readGuarded } from './guarded-document.ts';

/** Documents that are read at once, for all strangers together. */
const togetherMax = 10;
/** In whose name hosts are looked up: no tenant has chosen them. */
const lookupsOf = 'assistants';

/** Client ID metadata documents, behind the guard that webhooks have (D-609, D-621). */
export function createClientDocuments(parts: DocumentParts): ClientDocuments {
  let underWay = 0;
  return {
    async read(text) {
      const url = new URL(text);
      if (url.protocol !== 'https:' || underWay >= togetherMax) return undefined;
      underWay += 1;
      try {
        return await readGuarded({ url, lookupsOf }, parts);
      } finally {
        underWay -= 1;
      }
    },
  };
}
