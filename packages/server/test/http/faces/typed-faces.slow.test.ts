// D-570: inputs and outputs with schemas pass every face over HTTP, in the libraries of its clients.
import { randomUUID } from 'node:crypto';
import { SendMessageRequest } from '@a2a-js/sdk';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { usualAgents } from '../../support/agents.ts';
import { openSession } from '../../support/api-steps.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { openSdkClient } from './a2a-clients.ts';
import { TestChat } from './chat.ts';
import { mcpClients } from './mcp-clients.ts';
import { TestThread } from './thread.ts';

const triage = {
  publish: ['a2a'],
  input_schema: {
    type: 'object',
    properties: { ticket: { type: 'integer' }, prompt: { type: 'string' } },
    required: ['ticket'],
  },
  output_schema: { type: 'object', required: ['team'], properties: { team: { enum: ['tech'] } } },
  script: [{ say: 'Read {{input.ticket}}.' }, { output: { team: 'tech', why: '{{prompt}}' } }],
};
const words = {
  ...triage,
  output_schema: { type: 'array' },
  script: [{ output: [1, '{{prompt}}'] }],
};
const output = { team: 'tech', why: 'look' };

const part = z.record(z.string(), z.json());
const task = z.object({
  id: z.string(),
  artifacts: z.array(z.object({ parts: z.array(part) }).loose()),
  history: z.array(z.object({ parts: z.array(part) })).optional(),
});
const answer = z.object({
  result: z.union([z.object({ task }), task]).optional(),
  error: z.object({ message: z.string() }).optional(),
});

function taskOf({ result }: z.infer<typeof answer>): z.infer<typeof task> {
  if (result === undefined) throw new Error('the call failed');
  return 'task' in result ? result.task : result;
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe.each(databaseKinds)('typed runs by faces on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents: { ...usualAgents, triage, words } });
  });

  const inputOf = async (runId: string) => {
    const { body } = await server.send('find_run', { params: { run_id: runId } });
    return body.input;
  };

  test('useChat sends data parts, and shows the output as one, also when it is loaded again', async () => {
    const { id } = await openSession(server, 'triage');
    const chat = new TestChat(server, id);
    const data = { type: 'data-input', data: { ticket: 7 } } as const;
    await chat.sendMessage({ parts: [data, { type: 'text', text: 'look' }] });
    const shown = chat.lastMessage?.parts.filter(({ type }) => type === 'data-output');
    expect(shown).toEqual([{ type: 'data-output', id: 'output', data: output }]);
    expect(await inputOf(chat.lastMessage?.id ?? '')).toEqual({ ticket: 7, prompt: 'look' });
    // Without a text there is no prompt.
    await chat.sendMessage({ parts: [data] });
    expect(await inputOf(chat.lastMessage?.id ?? '')).toEqual({ ticket: 7 });
    const { body } = await server.send('list_ui_messages', { params: { session_id: id } });
    expect(plain(body.messages.at(-1))).toEqual(plain(chat.lastMessage));
    expect(body.messages.flatMap(({ role, parts }) => (role === 'user' ? [parts] : []))).toEqual([
      [data, { type: 'text', text: 'look' }],
      [data],
    ]);
    const other = new TestChat(server, id);
    await other.resumeStream();
    expect(plain(other.lastMessage)).toEqual(plain(chat.lastMessage));
  });

  test('useChat is told what does not fit', async () => {
    const { id } = await openSession(server, 'triage');
    const post = (parts: readonly object[]) =>
      fetch(`${server.baseUrl}/v1/sessions/${id}/ai-sdk`, {
        method: 'POST',
        headers: { ...server.client, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ id: randomUUID(), role: 'user', parts }] }),
      });
    const wrong = await post([{ type: 'data-input', data: { ticket: '7' } }]);
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      { error: 'invalid_body', issues: [{ pointer: '/input/ticket' }] },
    ]);
    const shapeless = await post([{ type: 'data-input', data: 7 }]);
    expect([shapeless.status, await shapeless.json()]).toMatchObject([
      400,
      { message: 'The last message has a data-input part whose data is not an object.' },
    ]);
  });

  test('HttpAgent forwards the input, and the end of its run has the result', async () => {
    const thread = new TestThread(server, 'agents/triage', {});
    thread.addMessage({ id: randomUUID(), role: 'user', content: 'look' });
    await thread.runAgent({ forwardedProps: { input: { ticket: 7 } } });
    expect([thread.finished?.result, thread.failed]).toEqual([output, undefined]);
    expect(await inputOf(thread.runId)).toEqual({ ticket: 7, prompt: 'look' });
    const other = new TestThread(server, 'agents/triage', { threadId: thread.threadId });
    await other.connectAgent();
    expect(other.finished?.result).toEqual(output);
  });

  test.each(['triage', 'words'])('a client of A2A gets the output of %s as data', async (agent) => {
    const { organization_id, tenant_id } = server.quickstart;
    const url = `${server.baseUrl}/v1/a2a/${organization_id}/${tenant_id}/${agent}`;
    const rpc = async (version: string, method: string, params: object) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          authorization: server.client['authorization'] ?? '',
          'content-type': 'application/json',
          'a2a-version': version,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return answer.parse(await response.json());
    };
    const isList = agent === 'words';
    const returned = isList ? [1, 'look'] : output;
    const messageId = randomUUID();
    const parts = [{ data: { ticket: 7 } }, { text: 'look' }];
    const message = { messageId, role: 'ROLE_USER', parts };
    const sent = await rpc('1.0', 'SendMessage', { message, configuration: { historyLength: 1 } });
    const begun = taskOf(sent);
    expect(begun.artifacts.at(-1)).toEqual({
      artifactId: 'output',
      name: 'output',
      parts: [{ data: returned }],
    });
    expect(await inputOf(begun.id)).toEqual({ ticket: 7, prompt: 'look' });
    expect(begun.history?.[0]?.parts).toEqual([{ text: 'look' }, { data: { ticket: 7 } }]);
    const old = await rpc('0.3', 'tasks/get', { id: begun.id });
    expect(taskOf(old).artifacts.at(-1)?.parts).toEqual([
      { kind: 'data', data: isList ? { value: returned } : returned },
    ]);
    const wrong = await rpc('1.0', 'SendMessage', {
      message: { ...message, messageId: randomUUID(), parts: [{ data: { ticket: '7' } }] },
    });
    expect(wrong.error?.message).toContain('/input/ticket must be integer');
  });

  test.each(Object.entries(mcpClients))('%s calls the agent by its schemas', async (_, connect) => {
    const { organization_id, tenant_id } = server.quickstart;
    const url = `${server.baseUrl}/v1/mcp/${organization_id}/${tenant_id}?agents=triage,words`;
    const { authorization = '' } = server.client;
    const assistant = await connect({ url, headers: { authorization } });
    onTestFinished(() => assistant.close());
    const tool = (await assistant.tools()).find(({ name }) => name === 'triage');
    expect(tool).toMatchObject({
      inputSchema: { ...triage.input_schema, additionalProperties: false },
      outputSchema: { properties: { output: triage.output_schema } },
    });
    // The client checks what is structured against the schema of the tool.
    const result = await assistant.call('triage', { ticket: 7, prompt: 'look' });
    expect(result.structuredContent).toMatchObject({ text: 'Read 7.', output });
    expect(await inputOf(result.structuredContent?.['run_id'] ?? '')).toEqual({
      ticket: 7,
      prompt: 'look',
    });
    const list = await assistant.call('words', { ticket: 7, prompt: 'look' });
    expect(list.structuredContent).toMatchObject({ output: [1, 'look'] });
    const wrong = await assistant.call('triage', { ticket: '7' });
    expect([wrong.isError, wrong.content[0]?.text]).toEqual([
      true,
      expect.stringContaining('/input/ticket must be integer'),
    ]);
  });

  test('the stream of A2A has the output before the last status, and the card names JSON', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const url = `${server.baseUrl}/v1/a2a/${organization_id}/${tenant_id}/triage`;
    const { authorization = '' } = server.client;
    const client = await openSdkClient(url, { authorization }, fetch);
    const kinds: string[] = [];
    const message = {
      messageId: randomUUID(),
      role: 'ROLE_USER',
      parts: [{ data: { ticket: 7 } }],
    };
    for await (const update of client.sendMessageStream(SendMessageRequest.fromJSON({ message }))) {
      const { payload } = update;
      const { $case: kind } = payload ?? {};
      const artifact = payload?.$case === 'artifactUpdate' ? payload.value.artifact?.name : '';
      kinds.push(`${kind} ${artifact ?? ''}`.trim());
    }
    expect(kinds.slice(-2)).toEqual(['artifactUpdate output', 'statusUpdate']);
    const card = await fetch(`${url}/.well-known/agent-card.json`, { headers: { authorization } });
    const modes = ['text/plain', 'application/json'];
    expect(await card.json()).toMatchObject({
      skills: [{ inputModes: modes, outputModes: modes }],
    });
  });
});
