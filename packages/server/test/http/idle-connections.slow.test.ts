import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openSocket, readAnswer } from '../support/raw-requests.ts';
import { startServer } from '../support/server.ts';

test('a connection on which nothing was asked is closed in silence; half a head is answered 408', async () => {
  const server = await startServer();
  const { server: listener } = server.convoke.app;
  const usual = listener.headersTimeout;
  // Node compares every few seconds; the rest of the usual time would only be waiting.
  listener.headersTimeout = 1;
  try {
    const [quiet, half] = [await openSocket(server), await openSocket(server)];
    half.write('GET /healthz HTTP/1.1\r\nhost: x\r\n');
    const [said, answer] = await Promise.all([text(quiet), readAnswer(half)]);
    expect(said).toBe('');
    expect(answer).toMatchObject({ status: 408 });
    expect(answer.headers.get('connection')).toBe('close');
    expect(JSON.parse(answer.text)).toEqual({
      error: 'invalid_request',
      message: 'The head of the request was not complete in time.',
      request_id: answer.headers.get('x-request-id'),
    });
  } finally {
    listener.headersTimeout = usual;
  }
});
