// A backend that streams runs to a browser. The browser has no credentials: it calls this backend, which follows the
// run with the SDK and forwards the events. EventSource reconnects automatically and sends the last event id.
//
//   node examples/stream-to-browser.mjs      then open the address it prints
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { connect } from './connect.mjs';

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */

const convoke = connect();

const page = `<!doctype html><title>Convoke</title>
<form><input name="prompt" value="Hello"><button>Ask</button></form><pre></pre>
<script>
  const [form] = document.forms, out = document.querySelector('pre');
  form.onsubmit = async (event) => {
    event.preventDefault();
    const started = await fetch('/ask', { method: 'POST', body: form.prompt.value });
    const source = new EventSource(await started.text());
    const pieces = [];
    // The frames have no names, so every event arrives here and \`onerror\` is about the connection only.
    source.onmessage = ({ data }) => {
      const event = JSON.parse(data);
      if (event.type === 'message_delta') pieces.push({ id: event.id, text: event.data.text });
      // An agent that lost its server may have to say something again: what it had said of it is dropped.
      const from = event.type === 'run_interrupted' && event.data.discard_from_event_id;
      if (from) pieces.splice(pieces.findIndex(({ id }) => id >= from));
      out.textContent = pieces.map(({ text }) => text).join('');
      if (['run_completed', 'run_cancelled', 'error'].includes(event.type)) source.close();
    };
  };
</script>`;

const server = createServer((request, response) => {
  handle(request, response).catch((/** @type {unknown} */ error) => {
    response.writeHead(502).end(String(error));
  });
});
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`http://127.0.0.1:${address?.port}`);
});

/**
 * @param {Request} request
 * @param {Response} response
 */
async function handle(request, response) {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/ask') return ask(request, response);
  if (url.pathname === '/events') return pass(url, request, response);
  response.writeHead(200, { 'content-type': 'text/html' }).end(page);
}

/**
 * @param {Request} request
 * @param {Response} response
 */
async function ask(request, response) {
  const session = await convoke.sessions.create('echo');
  const run = await session.run(await text(request));
  response.end(`/events?session=${session.id}&run=${run.id}`);
}

/**
 * @param {URL} url
 * @param {Request} request
 * @param {Response} response
 */
async function pass(url, request, response) {
  const session = convoke.sessions.at(url.searchParams.get('session') ?? '');
  const run = session.runs.at(url.searchParams.get('run') ?? '');
  const seen = request.headers['last-event-id'];
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const after = typeof seen === 'string' ? seen : undefined;
  for await (const event of run.follow({ after, signal: gone.signal })) {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  // Nothing after the last event: 204 stops an EventSource, which reconnects after every other end.
  if (!response.headersSent) response.writeHead(204);
  response.end();
}
