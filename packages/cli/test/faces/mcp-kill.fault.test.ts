// `convoke mcp` between an assistant and two servers: the one that answers a call is killed, and what it said last is
// lost (D-616, D-624).
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import type { Caller } from '../../../server/test/faults/support/caller.ts';
import {
  askingAgents,
  blueAndAllow,
  expectOneRun,
  runsOfTenant,
} from '../../../server/test/faults/support/mcp-kills.ts';
import { ServerPair } from '../../../server/test/faults/support/server-pair.ts';
import { mainPath, ownEnvironment } from '../command-line.ts';
import { mcpClients } from './mcp-clients.ts';

const minute = 60_000;
vi.setConfig({ testTimeout: 10 * minute, hookTimeout: 10 * minute });

/** More than a call has. */
const messagesMax = 20;
/** Messages about a call: two forms and the result; the older era has the place to resume at, too. */
const messagesOfCall = 3;

let pair: ServerPair;
let caller: Caller;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-bridge-'));
  atFileEnd(() => removeFolder(folder));
  pair = await ServerPair.open(askingAgents);
  caller = await pair.caller();
});

/** An address that leads to the server that is alive. It loses message number `lost` about calls, with its server. */
async function openAddress(lost: number) {
  let messages = 0;
  let killed = false;
  /** Whether these are lost. */
  const isLost = async (count: number) => {
    messages += count;
    if (killed || messages < lost) return false;
    killed = true;
    await pair.killCurrent();
    return true;
  };
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '', headers } = request;
    const body = await buffer(request);
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    const answer = await fetch(pair.baseUrl + url, {
      method,
      headers: passedOn(headers),
      signal: leaving.signal,
      ...(body.length > 0 && { body }),
    });
    const isCall = method === 'GET' || body.includes('"tools/call"');
    const isCounted = url.startsWith(pair.mcpPath) && isCall && answer.body !== null;
    if (!isCounted || !isStream(answer)) {
      const whole = Buffer.from(await answer.arrayBuffer());
      if (isCounted && (await isLost(1))) return void response.destroy();
      return void response.writeHead(answer.status, headersOf(answer)).end(whole);
    }
    response.writeHead(answer.status, headersOf(answer));
    for await (const piece of answer.body ?? []) {
      if (await isLost(Buffer.from(piece).toString().split('\n\n').length - 1)) {
        return void response.destroy();
      }
      response.write(piece);
    }
    response.end();
  };
  const proxy = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, hasKilled: () => killed };
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.includes('event-stream') === true;
}

function passedOn({
  host: _host,
  connection: _connection,
  ...headers
}: IncomingMessage['headers']) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** What fetch has decoded has another length. */
function headersOf({ headers }: Response): Record<string, string> {
  const {
    'content-encoding': _encoding,
    'content-length': _length,
    ...others
  } = Object.fromEntries(headers);
  return others;
}

// One of each era: the bridge hides the death from the library.
test.each(Object.entries(mcpClients).filter(([name]) => name.includes('2.4')))(
  'one run and one answer to each request, whichever message is lost with its server (%s)',
  async (_, connectTo) => {
    let kills = 0;
    for (let lost = 1; lost <= messagesMax; lost += 1) {
      await pair.bothAlive();
      const address = await openAddress(lost);
      const { client_id, client_secret } = pair.quickstart;
      const { shown, fill } = blueAndAllow();
      const runsBefore = await runsOfTenant(caller);
      const assistant = await connectTo({
        program: {
          command: process.execPath,
          args: [mainPath, 'mcp', '--wait', '10m'],
          cwd: folder,
          env: {
            ...ownEnvironment(folder),
            CONVOKE_BASE_URL: address.url,
            CONVOKE_CLIENT_ID: client_id,
            CONVOKE_CLIENT_SECRET: client_secret,
          },
        },
        fill,
      });
      onTestFinished(() => assistant.close());
      const result = await assistant.call('both', { prompt: 'Hello' });
      await assistant.close();
      if (!address.hasKilled()) break;
      kills += 1;
      await expectOneRun(caller, `lost message ${lost}`, { result, shown, runsBefore });
    }
    expect(kills).toBeGreaterThanOrEqual(messagesOfCall);
  },
);
