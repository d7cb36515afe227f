import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupAddress } from 'node:dns';
import type { TryResult } from '../domain/webhook/webhook-delivery.ts';
import type { Clock } from '../ports/clock.ts';
import type { WebhookSender } from '../ports/webhooks/sender.ts';
import { errorCode } from '../runtime/error-code.ts';
import { type ChosenUrls, chosenAddresses, problemOfUrl } from './chosen-urls.ts';
import { pinnedLookup } from './pinned-lookup.ts';
import { LookupFailed } from './unreachable.ts';

// An import would read all that the module exports, and load the client behind `fetch` with it: 40 ms and 10 MB.
const { request: httpRequest } = process.getBuiltinModule('node:http');

/** D-122: an answer that takes longer is a failed try. */
const answerMs = 15_000;
const bodyBytesMax = 4 * 1024;
const excerptBytes = 512;

interface SenderParts extends ChosenUrls {
  readonly clock: Clock;
}

/** Sends webhooks. The address is checked again at every try, and the checked one is connected to (D-123). */
export function createWebhookSender(parts: SenderParts): WebhookSender {
  return {
    problemOf: (webhook) => problemOfUrl(webhook, parts),
    async post({ tenantId, url: text, ...message }) {
      const url = new URL(text);
      try {
        const addresses = await chosenAddresses(url, tenantId, parts);
        return await send(url, { ...message, addresses, clock: parts.clock });
      } catch (error) {
        return failedTry(error);
      }
    },
  };
}

/**
 * A name that leads nowhere, or to a forbidden address, is tried again: the results must be the same, and the name may
 * come back. A URL that is forbidden by its text is blocked.
 */
function failedTry(error: unknown): TryResult {
  const message = error instanceof Error ? error.message : String(error);
  const kind = error instanceof LookupFailed ? 'unanswered' : 'blocked';
  return { kind, error: message };
}

interface Sending {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly addresses: readonly LookupAddress[];
  readonly clock: Clock;
}

function send(url: URL, { headers, body, signal, addresses, clock }: Sending): Promise<TryResult> {
  const { promise, resolve } = Promise.withResolvers<TryResult>();
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // No HTTP agent: requests share no connections, no setting of the process applies, and no redirect is followed.
  const call = start(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    lookup: pinnedLookup(addresses),
    agent: false,
    signal,
  });
  const cancelTimer = clock.after(answerMs, () => call.destroy(new Error('timeout')));
  const end = (result: TryResult) => {
    cancelTimer();
    resolve(result);
    call.destroy();
  };
  call.on('response', (answer) => readAnswer(answer, clock.now(), end));
  call.on('error', (error) =>
    end({ kind: 'unanswered', error: errorCode(error) ?? plainError(error) }),
  );
  call.end(body);
  return promise;
}

/** Our own timeout by its name; other messages may contain addresses. */
function plainError(error: Error): string {
  return error.message === 'timeout' ? 'timeout' : error.name;
}

/** Reads at most 4 KiB of the answer and keeps its beginning. */
function readAnswer(answer: IncomingMessage, now: number, end: (result: TryResult) => void): void {
  const { statusCode: status = 0, headers } = answer;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const retryAfterMs = retryAfter(headers['retry-after'], now);
  const finish = () => {
    const kept = Buffer.concat(chunks).subarray(0, excerptBytes);
    end({ kind: 'answered', status, excerpt: textOf(kept), retryAfterMs });
  };
  answer.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bodyBytesMax) finish();
  });
  answer.once('end', finish);
  // The status has arrived: the attempt has its result, whatever happens to the rest.
  answer.once('error', finish);
  answer.once('aborted', finish);
}

/** Text that a database stores and a terminal shows: a receiver may answer with anything. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll(/[^\P{C}\n\t]|\uFFFD/gu, ' ');
}

/** Seconds, or a date. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
