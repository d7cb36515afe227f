import { Readable, Writable } from 'node:stream';
import { type Stream, agent, ndJsonStream } from '@agentclientprotocol/sdk';
import { noteTerminal } from '../note-terminal.ts';
import { type Serving, EditorSessions } from './editor-sessions.ts';

/** Serves one agent on standard input and output, until the editor closes them. */
export async function serveAcp(serving: Serving): Promise<void> {
  noteTerminal('an editor');
  const stream = ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
  await connectEditor(serving, stream).closed;
}

/** Methods that are not listed are refused by the protocol's SDK. */
function connectEditor(serving: Serving, stream: Stream) {
  const sessions = new EditorSessions(serving);
  return agent({ name: 'convoke' })
    .onRequest('initialize', ({ params }) => sessions.initialize(params))
    .onRequest('session/new', ({ params }) => sessions.create(params))
    .onRequest('session/list', ({ params }) => sessions.list(params))
    .onRequest('session/load', ({ params, client }) => sessions.load(params, client))
    .onRequest('session/resume', ({ params }) => sessions.resume(params))
    .onRequest('session/close', ({ params }) => sessions.close(params))
    .onRequest('session/prompt', ({ params, client, signal }) =>
      sessions.prompt(params, { client, signal }),
    )
    .onNotification('session/cancel', ({ params }) => sessions.cancel(params))
    .onConnect(({ signal }) => sessions.closeWith(signal))
    .connect(stream);
}
