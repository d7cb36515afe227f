import { once } from 'node:events';
import { type RequestListener, createServer } from 'node:http';
import { tenantId } from '@convoke/contract';
import { afterAll, describe, expect, test } from 'vitest';
import { readAllowList } from '../../src/egress/allow-list.ts';
import { createWebhookSender } from '../../src/egress/webhook-sender.ts';
import type { WebhookSender } from '../../src/ports/webhooks/sender.ts';
import { FakeClock } from '../support/clocks.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

async function receiver(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const clock = new FakeClock();
const resolving = (...answers: readonly string[][]) => {
  let turn = 0;
  return async () => {
    const addresses = answers[Math.min(turn, answers.length - 1)] ?? [];
    turn += 1;
    return addresses.map((address) => ({ address, family: 4 }));
  };
};
const senderFor = (allow: string[] = ['127.0.0.0/8'], resolve = resolving(['127.0.0.1'])) =>
  createWebhookSender({ allow: readAllowList('CONVOKE_WEBHOOK_ALLOW', allow), clock, resolve });
const tenant = tenantId('ten_a');
const problem = (sender: WebhookSender, url: string) => sender.problemOf({ tenantId: tenant, url });
const message = (url: string, signal = new AbortController().signal) => ({
  tenantId: tenant,
  url,
  headers: { 'webhook-id': 'x' },
  body: '{"a":"é"}',
  signal,
});

describe('a URL (D-123)', () => {
  test.each([
    ['http://example.com/', /https/],
    ['ftp://example.com/', /https/],
    ['not a url', /not a URL/],
    ['https://user:pass@example.com/', /user/],
    ['https://example.com:22/', /port/],
    ['https://127.0.0.1/', /not allowed/],
    ['https://[::1]/', /not allowed/],
    ['https://10.0.0.1/', /not allowed/],
    ['https://169.254.169.254/latest', /not allowed/],
    ['https://[::ffff:169.254.169.254]/', /not allowed/],
    ['https://2130706433/', /not allowed/],
  ])('%s may not be called', async (url, expected) => {
    const sender = senderFor([], resolving(['192.0.2.7']));
    expect(await problem(sender, url)).toMatch(expected);
  });

  test('of a public address may be called, on port 443 and on high ones', async () => {
    const sender = senderFor([], resolving(['192.0.2.7']));
    expect(await problem(sender, 'https://example.com/hook')).toBeUndefined();
    expect(await problem(sender, 'https://example.com:8443/hook')).toBeUndefined();
  });

  test.each([[[]], [['10.0.0.1']], [['127.0.0.1']], [['fd00::1']]])(
    'whose name has the addresses %j is refused with the same words',
    async (addresses) => {
      const sender = senderFor([], resolving(addresses));
      expect(await problem(sender, 'https://internal.example/')).toBe(
        'https://internal.example does not exist, or leads to an address that is not allowed; an operator can list it in CONVOKE_WEBHOOK_ALLOW',
      );
    },
  );

  test('with one private address among its public ones may not be called', async () => {
    const sender = senderFor([], resolving(['192.0.2.7', '10.0.0.1']));
    expect(await problem(sender, 'https://example.com/')).toMatch(/not allowed/);
  });
});

describe('a try', () => {
  test('sends the body and reports the answer, of which it keeps 512 bytes', async () => {
    const bodies: string[] = [];
    const port = await receiver((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        bodies.push(Buffer.concat(chunks).toString());
        response.writeHead(503, { 'retry-after': '7' }).end(`no\u0000\u001b${'x'.repeat(100_000)}`);
      });
    });
    const result = await senderFor().post(message(`http://127.0.0.1:${port}/hook`));
    expect(result).toMatchObject({ kind: 'answered', status: 503, retryAfterMs: 7000 });
    expect(result).toHaveProperty('excerpt', `no  ${'x'.repeat(508)}`);
    expect(bodies).toEqual(['{"a":"é"}']);
  });

  test('does not follow a redirect to the metadata service of a cloud', async () => {
    let asked = 0;
    const port = await receiver((_, response) => {
      asked += 1;
      response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
    });
    const result = await senderFor().post(message(`http://127.0.0.1:${port}/`));
    expect(result).toMatchObject({ kind: 'answered', status: 307 });
    expect(asked).toBe(1);
  });

  test('is not sent when the name leads elsewhere than when the webhook was created', async () => {
    const sender = senderFor([], resolving(['192.0.2.7'], ['127.0.0.1'], ['169.254.169.254'], []));
    expect(await problem(sender, 'https://rebind.example:8443/')).toBeUndefined();
    const refused = {
      kind: 'unanswered',
      error:
        'https://rebind.example:8443 does not exist, or leads to an address that is not allowed; an operator can list it in CONVOKE_WEBHOOK_ALLOW',
    };
    // The last time the name does not exist: the result must not tell the difference.
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await sender.post(message('https://rebind.example:8443/'))).toEqual(refused);
    }
    expect(await problem(sender, 'https://rebind.example:8443/')).toBe(refused.error);
  });

  test('to an address that is not allowed any more is blocked', async () => {
    const result = await senderFor([]).post(message('https://127.0.0.1/'));
    expect(result).toMatchObject({ kind: 'blocked', error: expect.stringMatching(/not allowed/) });
  });

  test('connects to the address that was checked, whatever the name resolves to a moment later', async () => {
    const hosts: (string | undefined)[] = [];
    const port = await receiver((request, response) => {
      hosts.push(request.headers.host);
      response.writeHead(204).end();
    });
    const allow = ['127.0.0.0/8'];
    const sender = senderFor(allow, resolving(['127.0.0.1'], ['169.254.169.254']));
    const result = await sender.post(message(`http://rebind.example:${port}/`));
    expect(result).toMatchObject({ kind: 'answered', status: 204 });
    expect(hosts).toEqual([`rebind.example:${port}`]);
  });

  test('ends after 15 s without an answer', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const port = await receiver(() => arrive());
    const sent = senderFor().post(message(`http://127.0.0.1:${port}/`));
    await arrived;
    clock.advance(15_000);
    expect(await sent).toEqual({ kind: 'unanswered', error: 'timeout' });
  });

  test('ends when the server stops, and when nothing listens', async () => {
    const stop = new AbortController();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const port = await receiver(() => arrive());
    const sent = senderFor().post(message(`http://127.0.0.1:${port}/`, stop.signal));
    await arrived;
    stop.abort();
    expect(await sent).toMatchObject({ kind: 'unanswered' });
    const refused = await senderFor().post(message('http://127.0.0.1:1025/'));
    expect(refused).toEqual({ kind: 'unanswered', error: 'ECONNREFUSED' });
  });
});
