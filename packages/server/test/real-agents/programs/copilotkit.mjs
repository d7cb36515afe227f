// CopilotKit's runtime in front of Convoke, and a client of it as its pages have one. Prints what the client got.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { HttpAgent } from '@ag-ui/client';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';

const headers = JSON.parse(process.env.CONVOKE_HEADERS);
const agent = new HttpAgent({ url: process.env.CONVOKE_AG_UI, headers });
const runtime = new CopilotRuntime({ agents: { writer: agent } });
const server = createServer(createCopilotNodeListener({ runtime, basePath: '/api' }));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const place = `http://127.0.0.1:${server.address().port}/api/agent/writer`;

/** The runtime has an address of its own for pages that are loaded again. */
class Page extends HttpAgent {
  connect(input) {
    this.url = `${place}/connect`;
    return this.run(input);
  }
}

const shown = ({ messages, pendingInterrupts }) => ({
  text: messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : '')).join(''),
  calls: messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => call.function)),
  results: messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
  asked: pendingInterrupts.map(({ reason }) => reason),
});

async function conversation(threadId, payload) {
  const page = new Page({ url: `${place}/run`, threadId });
  page.addMessage({ id: `message-of-${threadId}`, role: 'user', content: 'note' });
  await page.runAgent();
  const waiting = shown(page);
  const [{ id: interruptId }] = page.pendingInterrupts;
  await page.runAgent({ resume: [{ interruptId, status: 'resolved', payload }] });
  const reloaded = new Page({ url: `${place}/run`, threadId });
  await reloaded.connectAgent();
  return { waiting, ended: shown(page), reloaded: shown(reloaded) };
}

const allowed = await conversation('allowed', { approved: true });
const denied = await conversation('denied', { approved: false, message: 'not now' });
console.log(JSON.stringify({ allowed, denied }));
process.exit();
