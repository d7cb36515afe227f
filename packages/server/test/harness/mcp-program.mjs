// An MCP server over standard streams, without packages: it runs in a sandbox that shows only its own folder.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

console.log('tickets, version 1 (a greeting that is no message)');

const text = (/** @type {string} */ value) => ({ content: [{ type: 'text', text: value }] });

/** @type {Record<string, (input: Record<string, string>, meta: Record<string, string>) => object>} */
const tools = {
  create({ title = '' }) {
    appendFileSync('tickets.txt', `${title}\n`);
    return text(`created ${title}`);
  },
  environment: () => text(JSON.stringify(process.env)),
  key: (_, meta) => text(`key ${meta['convoke/idempotency_key']}`),
  broken: () => ({ ...text('no such ticket'), isError: true }),
};

/** @type {Record<string, (params: any) => object>} */
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'tickets', version: '1' },
  }),
  'tools/list': () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `The tool ${name}`,
      inputSchema: { type: 'object', properties: { title: { type: 'string' } } },
    })),
  }),
  'tools/call': ({ name, arguments: input, _meta = {} }) =>
    tools[name]?.(input, _meta) ?? text('none'),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const known = methods[method];
  const error = { code: -32601, message: 'no such method' };
  const answer = known === undefined ? { error } : { result: known(params ?? {}) };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}
