import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/free-port.ts';
import { type Peer, type Talk, startProgram, untilReady } from './peer.ts';
import { Requests } from './requests.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The A2A SDK's server, JSON-RPC. A run is a task. */
export async function startA2a(): Promise<Peer> {
  const port = await freePort();
  const child = startProgram([process.execPath, 'servers/a2a.mjs', String(port)], { cwd: folder });
  await untilReady(`http://127.0.0.1:${port}/`, child);
  const requests = new Requests(port, { 'a2a-version': '1.0' });
  const send = async (talk: Talk) => {
    const sent = await requests.json('/', call('SendMessage', messageOf(talk)));
    const { result } = sent as { readonly result?: { readonly task?: { readonly id: string } } };
    if (result?.task === undefined) throw new Error(JSON.stringify(sent));
    return result.task.id;
  };
  return {
    name: 'A2A SDK',
    processes: [child],
    async start() {
      await send({ deltas: 1, waitMs: 0 });
    },
    async talk(_caller, talk) {
      const count = await requests.events('/', call('SendStreamingMessage', messageOf(talk)));
      requireEvents(count, talk);
    },
    async fanOut(readers, talk) {
      const id = await send(talk);
      const subscribe = () => requests.events('/', call('SubscribeToTask', { id }));
      const counts = await Promise.all(Array.from({ length: readers }, subscribe));
      for (const count of counts) requireEvents(count, talk);
      return performance.now();
    },
  };
}

/** The task, its words and its end. */
function requireEvents(count: number, { deltas }: Talk): void {
  if (count !== deltas + 2) throw new Error(`expected ${deltas + 2} events, got ${count}`);
}

function call(method: string, params: object): object {
  return { jsonrpc: '2.0', id: randomUUID(), method, params };
}

function messageOf(talk: Talk): object {
  const message = {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text: JSON.stringify(talk) }],
  };
  return { message, configuration: { returnImmediately: true } };
}
