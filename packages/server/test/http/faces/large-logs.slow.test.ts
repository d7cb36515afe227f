import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { begin, runIn } from '../../support/api-steps.ts';
import { eventually } from '../../support/eventually.ts';
import type { Puppet } from '../../support/puppet-harness.ts';
import { startPuppetServer } from '../../support/puppet-server.ts';
import { openSocket } from '../../support/raw-requests.ts';
import type { TestServer } from '../../support/server.ts';

let server: TestServer;
let puppet: Puppet;
beforeAll(async () => {
  ({ server, puppet } = await startPuppetServer());
});

const inputBytes = 200_000;
const requests = 49;
const questions = 50;

/** The session of a run that waits with open requests of large inputs; its questions are answered. */
async function answeredBesideRequests(): Promise<string> {
  const { session, run } = await begin(server, 'puppet');
  const leg = await puppet.leg();
  for (let index = 0; index < questions; index += 1) {
    leg.emit({ type: 'user_question', ref: `q${index}`, question: 'Which?' });
  }
  for (let index = 0; index < requests; index += 1) {
    const toolInput = { text: 'x'.repeat(inputBytes) };
    leg.emit({ type: 'permission_request', ref: `p${index}`, toolName: 'write', toolInput });
  }
  leg.end('waiting');
  await runIn(server, run, 'waiting');
  const params = { session_id: session.id };
  const query = { order: 'asc', limit: String(questions) } as const;
  const { body } = await server.send('list_interactions', { params, query });
  for (const { interaction_key } of body.interactions) {
    const at = { ...params, interaction_key };
    await server.send('answer_interaction', { params: at, body: { answer: 'red' } });
  }
  return session.id;
}

/** Opens the stream of a chat, and returns the connection and the server's side of it. */
async function openStream(sessionId: string) {
  const socket = await openSocket(server);
  const answered = once(server.convoke.app.server, 'request');
  const headers = Object.entries(server.client).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `GET /v1/sessions/${sessionId}/ai-sdk/c/stream HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers.join('')}\r\n`,
  );
  const [, response] = (await answered) as [unknown, ServerResponse];
  return { socket, response };
}

test('a stream of answered questions beside large requests is linear in its log, in bounded pieces (D-465)', async () => {
  const id = await answeredBesideRequests();
  const { socket, response } = await openStream(id);
  // A reader that does not read: the server keeps one piece for it.
  const waits = () => (response.socket?.writableLength ?? 0) > 0;
  await eventually(waits);
  const parts: Buffer[] = [];
  let most = 0;
  for await (const part of socket) {
    parts.push(part as Buffer);
    most = Math.max(most, response.socket?.writableLength ?? 0);
  }
  const text = Buffer.concat(parts).toString();
  expect(text.endsWith('data: [DONE]\n\n\r\n0\r\n\r\n')).toBe(true);
  expect(text.split('"approvalId"')).toHaveLength(2 * requests + 1);
  expect(text.length).toBeLessThan(3 * requests * inputBytes);
  expect(most).toBeLessThan(2 * inputBytes);
});

test('a client that is far behind does not keep others from their answers (D-465)', async () => {
  const { session, run } = await begin(server, 'puppet');
  const leg = await puppet.leg();
  for (let index = 0; index < 1000; index += 1) {
    leg.emit({ type: 'custom', name: 'noise', data: { text: 'x'.repeat(12_000) } });
  }
  leg.emit({ type: 'user_question', ref: 'q', question: 'Which?' });
  leg.end('waiting');
  await runIn(server, run, 'waiting');
  const answers: string[] = [];
  const arrived = once(server.convoke.app.server, 'request');
  const body = { threadId: 't', runId: 'r', state: {}, messages: [], tools: [], context: [] };
  // Nothing is written before the snapshot, so that this reader is never waited for.
  const behind = server
    .stream(`/v1/sessions/${session.id}/ag-ui`, { method: 'POST', body })
    .then((reader) => reader.all())
    .then(() => answers.push('snapshot'));
  await arrived;
  const small = server.send('get_health').then(() => answers.push('health'));
  await Promise.all([behind, small]);
  expect(answers).toEqual(['health', 'snapshot']);
});
