import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

export interface Effect {
  readonly tool: string;
  /** The idempotency key that came with the call (D-82). */
  readonly key: string | undefined;
}

/** The moments of a call at which a test may want a server to die. */
export type CallMoment = 'before the effect' | 'after the effect';

/** An MCP server over HTTP, outside every Convoke server, that counts what was carried out. */
export interface EffectServer {
  readonly url: string;
  readonly effects: readonly Effect[];
  /** Called at each moment of each call; the call continues when the promise resolves. */
  onMoment: (moment: CallMoment) => Promise<void> | void;
  close(): void;
}

/** `pay` is none that may be repeated; `put` says of itself that it may be, and `look` that it only reads. */
const tools = [
  { name: 'pay', inputSchema: { type: 'object' } },
  { name: 'put', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } },
  { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
];

const messageSchema = z.looseObject({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z
    .looseObject({
      name: z.string().optional(),
      protocolVersion: z.string().optional(),
      _meta: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});
type Message = z.infer<typeof messageSchema>;

export async function startEffectServer(): Promise<EffectServer> {
  const effects: Effect[] = [];
  const started = { effects, onMoment: () => {} } as Pick<EffectServer, 'effects' | 'onMoment'>;
  async function answerTo({ method, params = {} }: Message): Promise<object> {
    if (method === 'initialize') {
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'effects', version: '1' },
      };
    }
    if (method === 'tools/list') return { tools };
    const tool = params.name ?? '';
    const key = params._meta?.['convoke/idempotency_key'];
    await started.onMoment('before the effect');
    effects.push({ tool, key: typeof key === 'string' ? key : undefined });
    await started.onMoment('after the effect');
    return { content: [{ type: 'text', text: `${tool} done` }] };
  }
  const server = createServer((request, response) => {
    const answered = text(request).then(async (body) => {
      const message = messageSchema.parse(body === '' ? {} : JSON.parse(body));
      const isKnown = ['initialize', 'tools/list', 'tools/call'].includes(message.method ?? '');
      if (request.method !== 'POST' || message.id === undefined) {
        response.writeHead(request.method === 'POST' ? 202 : 405).end();
        return;
      }
      const error = { code: -32601, message: 'no such method' };
      const answer = isKnown ? { result: await answerTo(message) } : { error };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }));
    });
    answered.catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return Object.assign(started, {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
}
