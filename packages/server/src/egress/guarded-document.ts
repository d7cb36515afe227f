import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupAddress } from 'node:dns';
import type { Clock } from '../ports/clock.ts';
import { type ChosenUrls, chosenAddresses } from './chosen-urls.ts';
import { pinnedLookup } from './pinned-lookup.ts';

const { request: httpRequest } = process.getBuiltinModule('node:http');

/** A person waits for what is in the document, and an honest one is a small file. */
const answerMs = 5_000;
const bodyBytesMax = 64 * 1024;

export interface DocumentParts extends ChosenUrls {
  readonly clock: Clock;
}

export interface ChosenDocument {
  readonly url: URL;
  /** In whose name the host is looked up. */
  readonly lookupsOf: string;
}

/**
 * Reads a small JSON document of a stranger, behind the guard that webhooks have (D-609): no redirect is followed.
 * Returns undefined for every failure alike, so that a caller learns nothing about the network.
 */
export async function readGuarded(
  { url, lookupsOf }: ChosenDocument,
  parts: DocumentParts,
): Promise<string | undefined> {
  let addresses: readonly LookupAddress[];
  try {
    addresses = await chosenAddresses(url, lookupsOf, parts);
  } catch {
    return undefined;
  }
  return get(url, addresses, parts.clock);
}

function get(
  url: URL,
  addresses: readonly LookupAddress[],
  clock: Clock,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  // No HTTP agent: requests share no connections, no setting of the process applies, and no redirect is followed.
  const call = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
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
