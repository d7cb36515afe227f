import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupAddress } from 'node:dns';
import type { ClientDocuments } from '../ports/sign-in/client-documents.ts';
import type { Clock } from '../ports/clock.ts';
import { type ChosenUrls, chosenAddresses } from './chosen-urls.ts';
import { pinnedLookup } from './pinned-lookup.ts';

/** A person waits for the page, and an honest document is a small file. */
const answerMs = 5_000;
const bodyBytesMax = 64 * 1024;
/** Documents that are read at once, for all strangers together. */
const togetherMax = 10;

interface DocumentParts extends ChosenUrls {
  readonly clock: Clock;
}

/** Client ID metadata documents, behind the guard that webhooks have (D-609, D-621). No redirect is followed. */
export function createClientDocuments(parts: DocumentParts): ClientDocuments {
  let underWay = 0;
  return {
    async read(text) {
      const url = new URL(text);
      if (url.protocol !== 'https:' || underWay >= togetherMax) return undefined;
      underWay += 1;
      try {
        return await send(url, await chosenAddresses(url, lookupsOf, parts), parts.clock);
      } catch {
        return undefined;
      } finally {
        underWay -= 1;
      }
    },
  };
}

/** In whose name hosts are looked up: no tenant has chosen them. */
const lookupsOf = 'assistants';

function send(
  url: URL,
  addresses: readonly LookupAddress[],
  clock: Clock,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  // No HTTP agent: requests share no connections, no setting of the process applies, and no redirect is followed.
  const call = httpsRequest(url, {
    headers: { accept: 'application/json', 'user-agent': 'Convoke' },
    lookup: pinnedLookup(addresses),
    agent: false,
  });
  const end = (body?: string) => {
    cancelTimer();
    resolve(body);
    call.destroy();
  };
  const cancelTimer = clock.after(answerMs, () => end());
  call.on('response', (answer) => readAnswer(answer, end));
  call.on('error', () => end());
  call.end();
  return promise;
}

function readAnswer(answer: IncomingMessage, end: (body?: string) => void): void {
  if (answer.statusCode !== 200) return end();
  const chunks: Buffer[] = [];
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bodyBytesMax) end();
  });
  answer.once('end', () => end(Buffer.concat(chunks).toString('utf8')));
  answer.once('error', () => end());
  answer.once('aborted', () => end());
}
