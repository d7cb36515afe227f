import type { UIMessage } from 'ai';
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { ended, openSession, startRun } from '../../support/api-steps.ts';
import { databaseKinds } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { TestChat } from './chat.ts';

const several = {
  description: 'Asks twice',
  approval_required_tools: ['write_*'],
  script: [
    { use: { input_tokens: 20, output_tokens: 3 } },
    { ask: { question: 'Which?', options: ['a', 'b'] } },
    { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{answer}}' } } },
    { say: 'Written: {{answer}}.' },
  ],
};

/** The log of a run is much larger than the run: 100 times its prompt. */
const loud = {
  description: 'Emits',
  script: [
    { repeat: { times: 100, steps: [{ emit: { type: 'loud', data: { text: '{{prompt}}' } } }] } },
  ],
};

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe.each(databaseKinds)('the chat of the AI SDK on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents: { ...usualAgents, several, loud } });
  });

  async function open(agent: string, query = '') {
    const { id } = await openSession(server, agent);
    return { id, chat: new TestChat(server, id, query) };
  }

  async function history(id: string): Promise<readonly unknown[]> {
    const { body } = await server.send('list_ui_messages', { params: { session_id: id } });
    return body.messages;
  }

  const settled = (chat: TestChat, text: string) =>
    eventually(() => chat.status === 'ready' && chat.text.endsWith(text));

  /** What another tab, and the history, show of the newest run is what this chat shows. */
  async function isShownAlike(id: string, chat: TestChat): Promise<void> {
    const other = new TestChat(server, id);
    await other.resumeStream();
    expect(plain(other.lastMessage)).toEqual(plain(chat.lastMessage));
    expect(plain((await history(id)).at(-1))).toEqual(plain(chat.lastMessage));
  }

  test('a message starts a run, and its answer is one message with the id of the run (D-203)', async () => {
    const { id, chat } = await open('echo');
    await chat.sendMessage({ text: 'hello' });
    expect([chat.status, chat.text, chat.posts]).toEqual(['ready', 'hello (run 1)', 1]);
    expect(chat.lastMessage?.metadata).toMatchObject({ session_id: id, status: 'completed' });
    await chat.sendMessage({ text: 'again' });
    expect([chat.text, chat.posts, chat.messages.length]).toEqual(['again (run 2)', 2, 4]);
    await isShownAlike(id, chat);
    const { body } = await server.send('list_runs', { params: { session_id: id } });
    expect(body.runs.map((run) => run.id)).toContain(chat.lastMessage?.id);
  });

  test('a client that prefers respond-async gets the run of its message, however often it sends it (D-700)', async () => {
    const { id } = await open('echo');
    const parts = [{ type: 'text', text: 'hello' }];
    const post = (prefer: string) =>
      server.send('send_ui_message', {
        params: { session_id: id },
        headers: { prefer },
        body: { messages: [{ id: 'm1', role: 'user', parts }] },
      });
    const first = await post('respond-async');
    expect([first.status, first.headers.get('preference-applied')]).toEqual([202, 'respond-async']);
    const run = JSON.parse(first.text) as { readonly id: string };
    expect(run).toMatchObject({ session_id: id, agent_name: 'echo' });
    const again = await post('wait=10, Respond-Async; x=1');
    expect([again.status, JSON.parse(again.text)]).toMatchObject([202, { id: run.id }]);
    const streamed = await post('return=minimal');
    expect([streamed.status, streamed.headers.get('x-run-id')]).toEqual([200, run.id]);
  });

  test.each([
    [true, 'Done.', 'output-available'],
    [false, 'denied', 'output-denied'],
  ])(
    'an approval that is %s is sent once, and the message continues (D-205, D-206)',
    async (approved, text, state) => {
      const { id, chat } = await open('writer');
      await chat.sendMessage({ text: 'note' });
      const [call] = chat.calls;
      expect(call).toMatchObject({ state: 'approval-requested', toolName: 'write_file' });
      await isShownAlike(id, chat);
      await chat.addToolApprovalResponse({ id: call?.approval?.id ?? '', approved });
      await settled(chat, text);
      expect([chat.posts, chat.calls[0]?.state]).toEqual([2, state]);
      await isShownAlike(id, chat);
    },
  );

  test('a question and an approval after it are answered in the page', async () => {
    const { id, chat } = await open('several');
    await chat.sendMessage({ text: 'go' });
    expect(chat.calls[0]).toMatchObject({
      toolName: 'ask_user',
      input: { question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] },
    });
    const { toolCallId = '' } = chat.calls[0] ?? {};
    await chat.addToolOutput({ tool: 'ask_user', toolCallId, output: 'b' });
    await eventually(() => chat.status === 'ready' && chat.calls.length === 2);
    await chat.addToolApprovalResponse({ id: chat.calls[1]?.approval?.id ?? '', approved: true });
    await settled(chat, 'Written: b.');
    expect(chat.posts).toBe(3);
    expect(chat.lastMessage?.metadata).toMatchObject({
      usage: { input_tokens: 20, output_tokens: 3 },
    });
    await isShownAlike(id, chat);
  });

  test('an answer from elsewhere appears in every tab, and a second one changes nothing', async () => {
    const { id, chat } = await open('asker');
    await chat.sendMessage({ text: 'you' });
    const other = new TestChat(server, id);
    await other.resumeStream();
    const { toolCallId = '' } = chat.calls[0] ?? {};
    await chat.addToolOutput({ tool: 'ask_user', toolCallId, output: 'red' });
    await settled(chat, 'You said red.');
    await other.addToolOutput({ tool: 'ask_user', toolCallId, output: 'blue' });
    await settled(other, 'You said red.');
    expect(plain(other.lastMessage)).toEqual(plain(chat.lastMessage));
    expect(chat.calls[0]).toMatchObject({ output: 'red' });
  });

  test('a held stream stays open while the run waits (D-204)', async () => {
    const { id, chat } = await open('asker', '?waiting=hold');
    const sent = chat.sendMessage({ text: 'you' });
    const key = await eventually(() => chat.calls[0]?.toolCallId);
    await eventually(() => JSON.stringify(chat.lastMessage?.metadata).includes('"waiting":["'));
    expect(chat.status).toBe('streaming');
    const at = { session_id: id, interaction_key: key };
    await server.send('answer_interaction', { params: at, body: { declined: true } });
    await sent;
    expect([chat.posts, chat.text]).toEqual([1, 'Hm. You said .']);
    expect(chat.calls[0]?.output).toEqual({ declined: true });
  });

  test('a failed run is an error while it fails, and a message with its reason later (D-208)', async () => {
    const { id, chat } = await open('failing');
    await chat.sendMessage({ text: 'x' });
    expect([chat.status, chat.error?.message]).toEqual(['error', 'cannot x']);
    const other = new TestChat(server, id);
    await other.resumeStream();
    expect(other.status).toBe('ready');
    expect(other.lastMessage?.metadata).toMatchObject({
      status: 'failed',
      error_message: 'cannot x',
    });
  });

  test('a file in a message is stored as a file of the session, once', async () => {
    const { id, chat } = await open('echo');
    const url = `data:text/plain;base64,${Buffer.from('content').toString('base64')}`;
    const file = { type: 'file', mediaType: 'text/plain', filename: 'a.txt', url } as const;
    await chat.sendMessage({ text: 'see', files: [file] });
    const at = { session_id: id };
    const { body } = await server.send('list_files', { params: at });
    expect(body.files).toMatchObject([
      { name: 'a.txt', content_type: 'text/plain', size_bytes: 7 },
    ]);
    const [asked] = (await history(id)) as UIMessage[];
    expect(asked?.parts).toMatchObject([
      { type: 'file', filename: 'a.txt' },
      { type: 'text', text: 'see' },
    ]);
    // Its address works on a page of another origin, with a token (D-483).
    const [{ url: place = '' } = {}] = (asked?.parts ?? []) as { readonly url?: string }[];
    const content = await fetch(place, { headers: { ...server.client } });
    expect([content.status, await content.text()]).toEqual([200, 'content']);
    // The same POST again, as after a lost connection: the same run, no other file.
    const again = { messages: [chat.messages[0]] };
    const reader = await server.stream(`/v1/sessions/${id}/ai-sdk`, {
      method: 'POST',
      body: again,
    });
    reader.close();
    expect((await server.send('list_files', { params: at })).body.files).toHaveLength(1);
    // A file of the session is named by its address.
    const part = asked?.parts[0];
    await chat.sendMessage({ text: 'once more', files: part?.type === 'file' ? [part] : [] });
    expect(chat.text).toBe('once more (run 2)');
    expect((await server.send('list_files', { params: at })).body.files).toHaveLength(1);
  });

  test('a history has pages of runs, the newest first and the oldest message on top', async () => {
    const session = await openSession(server, 'echo');
    for (const prompt of ['one', 'two', 'three']) {
      await ended(server, await startRun(server, session, prompt));
    }
    const params = { session_id: session.id };
    const { body } = await server.send('list_ui_messages', { params, query: { limit: '2' } });
    const texts = (messages: readonly unknown[]) =>
      (messages as UIMessage[]).map(({ parts }) =>
        parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      );
    expect(texts(body.messages)).toEqual(['two', 'two (run 2)', 'three', 'three (run 3)']);
    const query = { limit: '2', cursor: body.next_cursor ?? '' };
    const { body: older } = await server.send('list_ui_messages', { params, query });
    expect(texts(older.messages)).toEqual(['one', 'one (run 1)']);
    expect(older.next_cursor).toBeUndefined();
  });

  test('a page of a history ends where the logs of its runs would be too large together (D-276)', async () => {
    const session = await openSession(server, 'loud');
    for (let run = 0; run < 3; run += 1) {
      await ended(server, await startRun(server, session, 'x'.repeat(35_000)));
    }
    const params = { session_id: session.id };
    const { body } = await server.send('list_ui_messages', { params });
    expect(body.messages).toHaveLength(2 * 2);
    const query = { cursor: body.next_cursor ?? '' };
    const { body: older } = await server.send('list_ui_messages', { params, query });
    expect(older.messages).toHaveLength(2);
    expect(older.next_cursor).toBeUndefined();
  });

  test('a message with a file that is sent twice at once starts one run', async () => {
    const { id } = await openSession(server, 'echo');
    const url = `data:text/plain;base64,${Buffer.from('content').toString('base64')}`;
    const file = { type: 'file', mediaType: 'text/plain', filename: 'a.txt', url };
    const parts = [{ type: 'text', text: 'see' }, file];
    const body = { messages: [{ id: 'both', role: 'user', parts }] };
    const send = async () => {
      const reader = await server.stream(`/v1/sessions/${id}/ai-sdk`, { method: 'POST', body });
      reader.close();
      return reader.headers.get('x-run-id');
    };
    const runs = await Promise.all(Array.from({ length: 8 }, send));
    expect(new Set(runs).size).toBe(1);
    expect(runs[0]).toMatch(/^run_/);
  });

  test('a message with an id that cannot be stored is refused, and the refusal names the id', async () => {
    const { id } = await openSession(server, 'echo');
    const params = { session_id: id };
    const parts = [{ type: 'text', text: 'x' }];
    const because = expect.stringContaining('has no id of 1 to 200 characters without control');
    for (const unfit of ['a\u0000b', 'a\nb', 'a\u007f', '\ud800', '', 'é'.repeat(201)]) {
      const body = { messages: [{ id: unfit, role: 'user', parts }] };
      const refused = await server.refused('send_ui_message', { params, body });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body', message: because });
    }
    const denied = { state: 'approval-responded', approval: { id: 'a\u0000b', approved: false } };
    const part = { type: 'dynamic-tool', toolName: 'a', toolCallId: 'c', ...denied };
    const answers = { messages: [{ id: 'r', role: 'assistant', parts: [part] }] };
    expect((await server.refused('send_ui_message', { params, body: answers })).status).toBe(400);
    const body = { messages: [{ id: '😀'.repeat(200), role: 'user', parts }] };
    const path = `/v1/sessions/${id}/ai-sdk`;
    const reader = await server.stream(path, { method: 'POST', body });
    reader.close();
    expect(reader.headers.get('x-run-id')).toMatch(/^run_/);
  });

  test('a session without a run has nothing to resume', async () => {
    const { id, chat } = await open('echo');
    await chat.resumeStream();
    expect([chat.status, chat.messages]).toEqual(['ready', []]);
    const params = { session_id: id, chat_id: 'any' };
    expect((await server.send('resume_ui_stream', { params })).status).toBe(204);
    expect(await history(id)).toEqual([]);
  });
});
