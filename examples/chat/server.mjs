// A chat page and its backend. The page talks to Convoke itself, with a token that this backend gives it.
//
//   CONVOKE_CORS_ORIGINS=http://127.0.0.1:8080 npm start   in one terminal: browsers may call Convoke from this page
//   node examples/chat/server.mjs                          in another one; then open http://127.0.0.1:8080
//
// It knows the server from .convoke/quickstart.json. To use another one, set CONVOKE_BASE_URL, CONVOKE_CLIENT_ID,
// CONVOKE_CLIENT_SECRET and, if the client can access several, CONVOKE_CLIENT_TENANT_ID. PORT is the port of the page.
import { createServer } from 'node:http';
import { connect, settings } from '../connect.mjs';
import { bundledPage } from './bundled-page.mjs';

const { baseUrl } = settings();
const convoke = connect();
const script = await bundledPage();
const html =
  '<!doctype html><title>Chat</title><body><script type="module" src="/page.js"></script>';

const server = createServer((request, response) => {
  handle(request, response).catch((/** @type {unknown} */ error) => {
    response.writeHead(502).end(String(error));
  });
});
const port = Number(process.env.PORT ?? 8080);
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function handle(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/page.js') {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  } else if (pathname === '/grant' && request.method === 'POST') {
    // Check here who signed in, and whether this chat is theirs.
    const user = { id: 'user-1' };
    const body = JSON.stringify(await grant(user, searchParams));
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  } else {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  }
}

/**
 * @param {{ id: string }} user
 * @param {URLSearchParams} asked
 */
async function grant(user, asked) {
  const chatId = `${user.id}:${asked.get('chat') ?? 'first'}`;
  // The same key finds the same session: there is nothing to store.
  const session = await convoke.sessions.create('demo', { idempotencyKey: `chat:${chatId}` });
  const { token } = await session.createToken({ end_user: user.id });
  return { baseUrl, sessionId: session.id, token };
}
