import { beforeAll, expect, test } from 'vitest';
import { begin, runIn } from '../../support/api-steps.ts';
import type { Puppet } from '../../support/puppet-harness.ts';
import { startPuppetServer } from '../../support/puppet-server.ts';
import type { TestServer } from '../../support/server.ts';

let server: TestServer;
let puppet: Puppet;
beforeAll(async () => {
  ({ server, puppet } = await startPuppetServer());
});

/** A run that waits for an approval or an answer. */
async function waiting(agent: 'writer' | 'asker') {
  const { session, run } = await begin(server, agent, 'note');
  await runIn(server, run, 'waiting');
  const params = { session_id: session.id };
  const [asked] = (await server.send('list_interactions', { params })).body.interactions;
  return { id: session.id, key: asked?.interaction_key ?? '' };
}

const approval = (id: string, more: object = {}) => ({
  type: 'dynamic-tool',
  toolName: 'write_file',
  toolCallId: 'c',
  state: 'approval-responded',
  approval: { id, approved: true },
  ...more,
});

const answer = (toolCallId: string, more: object) => ({
  type: 'tool-ask_user',
  toolCallId,
  ...more,
});

async function post(id: string, parts: readonly object[], more: object = {}) {
  const body = { messages: [{ id: 'run', role: 'assistant', parts, ...more }] };
  return server.call('POST', `/v1/sessions/${id}/ai-sdk`, { body });
}

/** The types of chunks, without those of the agent's text. */
const typesIn = (text: string) =>
  Array.from(text.matchAll(/^data: \{"type":"([^"]+)"/gm), ([, type]) => type).filter(
    (type) => type?.startsWith('text') !== true,
  );

test('a part that answers nothing does not keep another one from its run', async () => {
  const { id, key } = await waiting('writer');
  const { status, text } = await post(id, [approval(key), approval('intr_none')]);
  expect([status, typesIn(text).at(-1)]).toEqual([200, 'finish']);
});

test.each(['000000000000', '000000009999', 'none', ''])(
  'a message that claims to show the log up to "%s" is continued behind its requests (D-205)',
  async (last_event_id) => {
    const { id, key } = await waiting('writer');
    const { text } = await post(id, [approval(key)], { metadata: { last_event_id } });
    expect(typesIn(text).slice(0, 3)).toEqual([
      'start',
      'tool-approval-response',
      'tool-output-available',
    ]);
  },
);

test('a message that names its last event is continued behind it, whatever requests it shows (D-205)', async () => {
  const { session, run } = await begin(server, 'puppet');
  const leg = await puppet.leg();
  for (const ref of ['p1', 'p2']) {
    leg.emit({ type: 'permission_request', ref, toolName: 'save', toolInput: {} });
  }
  leg.end('waiting');
  const params = { session_id: session.id, run_id: run.id };
  await runIn(server, run, 'waiting');
  const { interactions } = (
    await server.send('list_interactions', { params: { session_id: session.id } })
  ).body;
  const first = interactions.find(({ request_id }) => request_id === 'p1')?.interaction_key ?? '';
  // The second time the run has no event behind the named one.
  for (const time of ['answered', 'repeated']) {
    const { last_event_id } = (await server.send('get_run', { params })).body;
    const { text } = await post(session.id, [approval(first)], { metadata: { last_event_id } });
    const asks = typesIn(text).filter((type) => type === 'tool-approval-request');
    expect([time, asks]).toEqual([time, []]);
  }
  await server.send('cancel_run', { params });
});

test.each([['yes'], [1], [null], [undefined]])(
  'an approval that is %j, and not true, denies the call',
  async (approved) => {
    const { id, key } = await waiting('writer');
    const { text } = await post(id, [approval('', { approval: { id: key, approved } })]);
    expect(typesIn(text)).toContain('tool-output-denied');
    expect(typesIn(text)).not.toContain('tool-output-available');
  },
);

test('a call that is asked about and a question without an output are no answers', async () => {
  const asked = await waiting('writer');
  const asks = approval(asked.key, { state: 'approval-requested' });
  const questioned = await waiting('asker');
  const open = answer(questioned.key, { state: 'input-available', output: 'red' });
  for (const [id, part] of [
    [asked.id, asks],
    [questioned.id, open],
  ] as const) {
    expect((await post(id, [part])).status).toBe(400);
    const { body } = await server.send('list_interactions', { params: { session_id: id } });
    expect(body.interactions).toMatchObject([{ status: 'pending' }]);
  }
});

test.each([
  [
    { state: 'output-error', errorText: 'not now' },
    { declined: true, message: 'not now' },
  ],
  [{ state: 'output-error' }, { declined: true }],
  [{ state: 'output-available', output: { declined: true } }, { declined: true }],
  [{ state: 'output-available', output: 'red' }, 'red'],
  [{ state: 'output-available', output: { answer: 'blue' } }, 'blue'],
])('a question whose part is %j has the answer %j (D-205)', async (part, output) => {
  const { id, key } = await waiting('asker');
  const { text } = await post(id, [answer(key, part)]);
  expect(text).toContain(`"output":${JSON.stringify(output)}`);
});

test('version 6 of the library gets no chunk that it refuses (D-207)', async () => {
  const { id, key } = await waiting('writer');
  await post(id, [approval(key)]);
  const { text } = await server.call('GET', `/v1/sessions/${id}/ai-sdk/c/stream?sdk=6`);
  expect(typesIn(text)).toContain('tool-output-available');
  expect(typesIn(text)).not.toContain('tool-approval-response');
});
