import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  createServer,
} from 'node:http';
import { atFileEnd } from '../../../../test/runner/file-end.ts';

export interface Received {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly url: string;
  /** What arrived, in order, whatever was answered. */
  readonly received: readonly Received[];
}

type Answer = (request: Received) => number | undefined | Promise<number | undefined>;

/** A receiver of webhooks on this machine. `answer` returns the status, or undefined to never answer. */
export async function startReceiver(answer: Answer = () => 204): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { headers } = request;
    const body = Buffer.concat(chunks).toString();
    const one = { id: String(headers['webhook-id']), headers, body };
    received.push(one);
    const status = await answer(one);
    if (status !== undefined) response.writeHead(status).end();
  };
  const server = createServer((request, response) => {
    // A sender that was stopped leaves half a request.
    receive(request, response).catch(() => response.destroy());
  });
  atFileEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/hook`, received };
}

/** For `CONVOKE_WEBHOOK_ALLOW`: receivers of tests. */
export const receiverNetwork = '127.0.0.0/8';
