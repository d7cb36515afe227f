import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../../test/repository.ts';
import { type RunEvent, RunText, verifyWebhook } from '../src/index.ts';
import { MessageParser } from '../src/transport/server-sent-events.ts';

/** Cases that the clients of every language read (D-226); in Python: packages/python/test/units/test_fixtures.py. */
function fixture<Case extends { readonly name: string }>(
  file: string,
): (readonly [string, Case])[] {
  const text = readFileSync(join(root, 'packages/contract/fixtures', file), 'utf8');
  return (JSON.parse(text) as Case[]).map((each) => [each.name, each]);
}

interface StreamCase {
  readonly name: string;
  readonly stream: string;
  readonly messages: readonly string[];
  readonly retry_ms?: number;
}

describe('a stream with', () => {
  test.each(fixture<StreamCase>('event-streams.json'))(
    '%s',
    (_, { stream, messages, retry_ms }) => {
      for (const end of ['\n', '\r\n', '\r']) {
        const whole = stream.replaceAll('\n', end);
        for (let cut = 0; cut <= whole.length; cut += 1) {
          const parser = new MessageParser();
          const got = [...parser.push(whole.slice(0, cut)), ...parser.push(whole.slice(cut))];
          expect(got).toEqual(messages);
          expect(parser.retryMs).toBe(retry_ms);
        }
      }
    },
  );
});

interface TextCase {
  readonly name: string;
  readonly events: readonly RunEvent[];
  readonly text: string;
  readonly dropped: boolean;
}

describe('the text of a run with', () => {
  test.each(fixture<TextCase>('run-texts.json'))('%s', (_, { events, text, dropped }) => {
    const joined = new RunText();
    const drops = events.map((event) => joined.take(event));
    expect([joined.text, drops.includes(true)]).toEqual([text, dropped]);
  });
});

interface SignatureCase {
  readonly name: string;
  readonly valid: boolean;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** In seconds. */
  readonly now: number;
}

describe('a webhook with', () => {
  test.each(fixture<SignatureCase>('webhook-signatures.json'))(
    '%s',
    async (_, { valid, ...given }) => {
      const { body, secrets: secret, now } = given;
      const headers = new Headers(given.headers);
      const verified = verifyWebhook({ body, headers, secret, now: now * 1000 });
      if (valid) expect((await verified).notice).toEqual(JSON.parse(body));
      else await expect(verified).rejects.toMatchObject({ name: 'WebhookVerificationError' });
    },
  );
});
