import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '@convoke/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../../test/dev-server.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import {
  type CommandLine,
  createCommandLine,
  mainPath,
  manyProcessesMs,
  ownEnvironment,
} from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let server: DevServer;
let convoke: CommandLine;
let receiver: Server;
let url: string;
const received: Received[] = [];

beforeAll(async () => {
  server = await startDevServer();
  convoke = await createCommandLine(server.place);
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(202).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await convoke.remove();
  await server.stop();
});

test('`webhooks listen` forwards what happens, signed with the secret that it prints', async () => {
  const listen = ['webhooks', 'listen', '--forward-to', url, '--type', 'run_completed'];
  const child = spawn(process.execPath, [mainPath, ...listen], {
    cwd: server.place,
    env: ownEnvironment(convoke.settings),
  });
  try {
    let said = '';
    child.stdout.on('data', (text: Buffer) => (said += text.toString()));
    await eventually(() => said.includes('secret   whsec_'));
    // It follows from when it is connected, so a run may come too early.
    await eventually(async () => {
      await convoke.run(['invoke', 'echo', 'Hello']);
      return received.length > 0;
    });
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    const secret = /whsec_\S+/.exec(said)?.[0] ?? '';
    const { notice } = await verifyWebhook({ body, headers, secret });
    expect(notice.type).toBe('run_completed');
    await eventually(() => /run_completed +run_\S+ .* 202\n/.test(said));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});

test('a development server sends webhooks to this machine', async () => {
  received.length = 0;
  const made = await convoke.json<{ webhook: { id: string } }>(
    'webhooks',
    'create',
    url,
    '--type',
    'budget_reached',
  );
  await convoke.json('webhooks', 'test', made.webhook.id);
  await eventually(() => received.length > 0);
  expect(received[0]?.body.toString()).toContain('"type":"webhook_test"');
  const { id } = made.webhook;
  const deliveries = ['webhooks', 'deliveries', id, '--status', 'delivered'];
  const delivered = await eventually(
    async () => (await convoke.json<Deliveries>(...deliveries)).deliveries[0],
  );
  const { stdout } = await convoke.run(['webhooks', 'delivery', id, delivered.id.slice(0, 20)]);
  expect(stdout).toContain(`\nrequest body\n${received[0]?.body.toString()}\n`);
  expect(stdout).toMatch(/^response +202$/m);
  await convoke.json('webhooks', 'delete', id);
});

test('`webhooks listen` refuses a URL that is none', async () => {
  const refused = await convoke.run(['webhooks', 'listen', '--forward-to', 'localhost:3000']);
  expect(refused).toMatchObject({ stdout: '', code: 2 });
  expect(refused.stderr).toContain('must be an http or https URL');
});

interface Deliveries {
  readonly deliveries: readonly { readonly id: string }[];
}
