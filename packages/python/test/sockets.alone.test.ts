import { once } from 'node:events';
import { type Socket, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Asked, type Mode, askPython, modes, programPath } from './python.ts';
import { listenOnLocalhost, startTlsServer } from './tls-servers.ts';

interface ProgramReply {
  readonly outcome: string;
  readonly open: number;
}

function start(mode: Mode, cert?: string): Asked {
  const trusted = cert === undefined ? {} : { SSL_CERT_FILE: cert };
  return askPython([programPath('sockets.py'), mode], trusted);
}

const secure = (port: number) => `https://localhost:${port}`;

/** A server that accepts connections, reads, and never says a word. */
async function startSilentServer() {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => server.emit('spoken-to'));
    onTestFinished(() => void socket.destroy());
  });
  return { server, port: await listenOnLocalhost(server) };
}

test.each(modes)('no socket stays open after a call, however it ends, %s', async (mode) => {
  let isSilent = false;
  const { cert, port } = await startTlsServer((_request, response) => {
    if (!isSilent) response.end('{}');
  });
  const silent = await startSilentServer();
  await using trusting = start(mode, cert);
  await using distrusting = start(mode);
  const call = (program: Asked, at: number, more: object = {}) =>
    program.ask<ProgramReply>({ do: 'call', base_url: secure(at), ...more });
  expect(await call(trusting, port)).toEqual({ outcome: 'done', open: 0 });
  expect(await call(distrusting, port)).toEqual({ outcome: 'connection_failed', open: 0 });
  const late = { outcome: 'timeout', open: 0 };
  expect(await call(trusting, silent.port, { timeout: 0.1 })).toEqual(late);
  isSilent = true;
  expect(await call(trusting, port, { timeout: 1 })).toEqual(late);
});

test('no socket stays open when a task is cancelled while it connects or waits', async () => {
  const silent = await startSilentServer();
  const { cert, port, server } = await startTlsServer(() => {});
  await using program = start('asyncio', cert);
  const connecting = once(silent.server, 'spoken-to');
  await program.ask({ do: 'begin', base_url: secure(silent.port) });
  await connecting;
  const cancelled = { outcome: 'CancelledError', open: 0 };
  expect(await program.ask({ do: 'cancel' })).toEqual(cancelled);
  const waiting = once(server, 'request');
  await program.ask({ do: 'begin', base_url: secure(port) });
  await waiting;
  expect(await program.ask({ do: 'cancel' })).toEqual(cancelled);
});
