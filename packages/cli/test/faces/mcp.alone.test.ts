// `convoke mcp` as assistants use it: their own client libraries start the command, against a real server.
import { spawn } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { SessionHandle } from '@convoke/sdk';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../server/test/support/eventually.ts';
import { root, textOf } from '../../../../test/repository.ts';
import { createServer } from '../../src/faces/mcp/serve.ts';
import { OfferedAgents } from '../../src/faces/mcp/tools.ts';
import { paymentsIn } from '../agent-programs.ts';
import { useFaceServer, writeAgent } from './face-server.ts';
import {
  type Assistant,
  type CallResult,
  type Connecting,
  type Filled,
  type ShownForm,
  mcpClients,
} from './mcp-clients.ts';

const faces = useFaceServer();

describe.each(Object.entries(mcpClients))('%s', (_, connectTo) => {
  async function connect(connecting: Connecting = {}, ...words: string[]): Promise<Assistant> {
    const assistant = await connectTo(faces().program('mcp', ...words), connecting);
    onTestFinished(() => assistant.close());
    return assistant;
  }

  test('lists agents as tools, calls one, and continues its session', async () => {
    const assistant = await connect({}, 'echo', 'demo');
    const names = (await assistant.tools()).map(({ name }) => name);
    expect(names).toEqual(['demo', 'echo', 'convoke_wait', 'convoke_answer']);
    const first = await assistant.call('echo', { prompt: 'Hello' });
    expect(first.content[0]?.text).toBe('Hello (run 1)');
    expect(first.structuredContent).toMatchObject({ status: 'completed', text: 'Hello (run 1)' });
    const { session_id } = first.structuredContent ?? {};
    const second = await assistant.call('echo', { prompt: 'Again', session_id });
    expect(second.structuredContent).toMatchObject({ session_id, text: 'Again (run 2)' });
  });

  test('a tool takes and returns what the schemas of its agent say (D-570)', async () => {
    const assistant = await connect({}, 'typed');
    const tool = (await assistant.tools()).find(({ name }) => name === 'typed');
    expect(tool?.inputSchema).toMatchObject({
      properties: {
        ticket: { $ref: '#/$defs/number' },
        session_id: { type: 'string' },
        convoke_session_id: { type: 'string' },
      },
      required: ['ticket'],
      $defs: { number: { type: 'integer' } },
      additionalProperties: false,
    });
    // The client checks what is structured against this schema.
    expect(tool?.outputSchema).toMatchObject({
      properties: { output: { properties: { team: { $ref: '#/$defs/team' } } } },
      $defs: { team: { enum: ['billing', 'tech'] } },
    });
    const result = await assistant.call('typed', { ticket: 7 });
    expect(result.structuredContent).toMatchObject({ text: 'Read 7.', output: { team: 'tech' } });
    expect(result.content[1]?.text).toContain('"team": "tech"');
    const { session_id: convoke_session_id } = result.structuredContent ?? {};
    const again = await assistant.call('typed', { ticket: 8, convoke_session_id });
    expect(again.structuredContent).toMatchObject({
      session_id: convoke_session_id,
      text: 'Read 8.',
    });
    const wrong = await assistant.call('typed', { ticket: '7' });
    expect(wrong).toMatchObject({ isError: true });
    expect(wrong.content[0]?.text).toContain('/input/ticket must be integer');
  });

  test('shows questions and permissions to a person in forms; the tool runs once, in one run', async () => {
    const forms: ShownForm[] = [];
    const assistant = await connect({
      fill: (form) => {
        forms.push(form);
        return 'decision' in form.requestedSchema.properties
          ? accept({ decision: 'allow' })
          : accept({ answer: 'Captain' });
      },
    });
    const result = await assistant.call('demo', { prompt: 'Hello' });
    expect(result.structuredContent).toMatchObject({ status: 'completed' });
    expect(result.content[0]?.text).toContain('Thank you, Captain. It is in note.txt.');
    expect(forms).toHaveLength(2);
    expect(forms[0]?.message).toContain('What should I call you?');
    expect(forms[1]?.message).toContain('write_file');
    expect(forms[1]?.message).toContain('Captain was here, in run 1.');
    expect(await runsOf(result)).toHaveLength(1);
  });

  test('a form that is declined or closed leaves its request to a person elsewhere', async () => {
    const actions: Filled['action'][] = ['decline', 'cancel'];
    const assistant = await connect({ fill: () => ({ action: actions.shift() ?? 'cancel' }) });
    const result = await assistant.call('demo', { prompt: 'Hello' });
    expect(result.structuredContent).toMatchObject({ status: 'waiting' });
    const again = await assistant.call('convoke_wait', { run_id: runOf(result) });
    expect(again.structuredContent).toMatchObject({ status: 'waiting' });
    expect(actions).toEqual([]);
    expect(await pending(result)).toHaveLength(1);
  });

  test('without forms a question goes through the model, and a permission cannot', async () => {
    const assistant = await connect();
    const result = await assistant.call('demo', { prompt: 'Hello' });
    const run_id = runOf(result);
    expect(result.content[0]?.text).toMatch(/What should I call you\?\n- Captain\n- Friend/);
    const next = await assistant.call('convoke_answer', { run_id, answer: 'Friend' });
    expect(next.structuredContent).toMatchObject({ status: 'waiting' });
    const [named] = next.content;
    expect(named?.text).toContain('permission to run write_file. You cannot give it.');
    expect(named?.text).toMatch(/\/console\/t\/ten_\w+\/runs\/run_/);

    for (const answer of ['allow', 'yes', '{"decision":"allow"}']) {
      const refused = await assistant.call('convoke_answer', { run_id, answer });
      expect(refused).toMatchObject({ isError: true });
    }
    const given = { run_id, answer: 'allow', decision: 'allow' };
    expect(await assistant.call('convoke_wait', given)).not.toMatchObject({ isError: true });
    const [ask] = await pending(next);
    expect(ask).toMatchObject({ kind: 'permission', status: 'pending' });

    await sessionOf(next).interactions.answer(ask?.interaction_key ?? '', { decision: 'deny' });
    const end = await assistant.call('convoke_wait', { run_id });
    expect(end.structuredContent).toMatchObject({ status: 'completed', run_id });
    expect(await runsOf(end)).toHaveLength(1);
  });

  test('a call that takes longer returns the run, which continues; so it does when the call is cancelled', async () => {
    const assistant = await connect({}, 'lasting', '--wait', '1');
    const result = await assistant.call('lasting', { prompt: 'Hello' });
    expect(result.structuredContent).toMatchObject({ status: 'running' });
    expect(result.content[0]?.text).toContain('convoke_wait');
    const run = sessionOf(result).runs.at(runOf(result));
    const cancelling = new AbortController();
    const waited = assistant.call(
      'convoke_wait',
      { run_id: run.id },
      { signal: cancelling.signal },
    );
    cancelling.abort('the user stopped it');
    await expect(waited).rejects.toBeDefined();
    expect((await run.read()).status).toBe('running');
    await run.cancel();
    const end = await eventually(async () => {
      const next = await assistant.call('convoke_wait', { run_id: run.id });
      return next.isError === true && next;
    });
    expect(end.structuredContent).toMatchObject({ status: 'cancelled' });
  });

  test('what is wrong is said in a result', async () => {
    const assistant = await connect({}, 'echo', 'fail');
    for (const [tool, given, said] of [
      ['missing', { prompt: 'Hello' }, 'There is no agent missing'],
      ['demo', { prompt: 'Hello' }, 'There is no agent demo'],
      ['echo', { prompt: 'Hello', session_id: 'sess_x' }, 'not_found'],
      ['echo', { prompt: 7 }, 'prompt must be a non-empty string'],
      ['convoke_wait', { run_id: 'run_x' }, 'There is no run run_x'],
      ['fail', { prompt: 'fail' }, 'This agent always fails'],
    ] as const) {
      const result = await assistant.call(tool, given);
      expect(result).toMatchObject({ isError: true });
      expect(result.content[0]?.text).toContain(said);
    }
  });
});

describe('convoke mcp', () => {
  const [newest = '', connectTo] = Object.entries(mcpClients).at(-1) ?? [];

  async function connect(connecting: Connecting = {}, ...words: string[]): Promise<Assistant> {
    if (connectTo === undefined) throw new Error(newest);
    const assistant = await connectTo(faces().program('mcp', ...words), connecting);
    onTestFinished(() => assistant.close());
    return assistant;
  }

  test('a run of an agent that is not offered is unknown to the model', async () => {
    const run = await (await faces().convoke.sessions.create('echo')).run('Secret');
    await run.wait();
    const assistant = await connect({}, 'demo');
    const result = await assistant.call('convoke_wait', { run_id: run.id });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).not.toContain('Secret');
  });

  test('a session whose run waits for a person takes no further prompt', async () => {
    const assistant = await connect();
    const result = await assistant.call('patient', { prompt: 'Hello' });
    const { session_id } = result.structuredContent ?? {};
    const refused = await assistant.call('patient', { prompt: 'Hello?', session_id });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.content[0]?.text).toContain('waits for a person');
    const end = await assistant.call('convoke_answer', { run_id: runOf(result), answer: 'Red' });
    expect(end.content[0]?.text).toBe('It is Red.');
  });

  test('an answer given elsewhere wins over a form that is filled in later', async () => {
    const assistant = await connect({
      fill: async () => {
        const found = faces().convoke.interactions.list({ agent_name: 'patient' });
        for await (const ask of found)
          await faces().convoke.interactions.answer(ask, { answer: 'Blue' });
        return accept({ answer: 'Red' });
      },
    });
    const result = await assistant.call('patient', { prompt: 'Hello' });
    expect(result.content[0]?.text).toBe('It is Blue.');
  });

  test('a filled-in form of a client that declared none decides nothing', async () => {
    const assistant = await connect();
    const result = await assistant.call('demo', { prompt: 'Hello' });
    const run_id = runOf(result);
    const next = await assistant.call('convoke_answer', { run_id, answer: 'Captain' });
    const [ask] = await pending(next);
    const key = ask?.interaction_key ?? '';
    const inputResponses = { [key]: accept({ decision: 'allow' }) };
    const calls = ['demo', 'convoke_wait', 'convoke_answer'].map((name) => {
      const given = { run_id, prompt: 'Hello', answer: 'allow' };
      return { name, arguments: given, inputResponses, requestState: run_id };
    });
    const answers = await rawCalls(calls);
    for (const answer of answers) expect(JSON.stringify(answer)).toContain('waiting');
    expect((await pending(next)).map(({ status }) => status)).toEqual(['pending']);
    expect(await runsOf(next)).toHaveLength(1);
  });

  test('prints nothing but the protocol, and ends when the client is gone', async () => {
    const { stdout, code } = await faces().settings.run(['mcp'], { input: 'no JSON\n' });
    expect({ stdout, code }).toEqual({ stdout: '', code: 0 });
  });

  test('the lines of the guide work as they are pasted', async () => {
    const guide = textOf('docs/guides/editors-and-assistants.md');
    const [, line = ''] = /^claude mcp add convoke -- (.*)$/m.exec(guide) ?? [];
    const [, json = '{}'] = /^(\{ "mcpServers".*)$/m.exec(guide) ?? [];
    const { mcpServers } = JSON.parse(json) as {
      mcpServers: Record<string, { command: string; args: string[] }>;
    };
    const { command = '', args = [] } = mcpServers['convoke'] ?? {};
    expect([command, ...args].join(' ')).toBe(line);
    await mkdir(join(faces().server.place, 'node_modules/.bin'), { recursive: true });
    await symlink(
      join(root, 'packages/cli/bin/convoke.mjs'),
      join(faces().server.place, 'node_modules/.bin/convoke'),
    );
    if (connectTo === undefined) throw new Error(newest);
    const assistant = await connectTo({ ...faces().program('mcp'), command, args }, {});
    onTestFinished(() => assistant.close());
    const result = await assistant.call('echo', { prompt: 'Hello' });
    expect(result.content[0]?.text).toBe('Hello (run 1)');
  });

  test('clients that ask for it hear that a call continues', async () => {
    const assistant = await connect({}, 'lasting', '--wait', '6');
    const heard: number[] = [];
    const onprogress = ({ progress }: { readonly progress: number }) => void heard.push(progress);
    const result = await assistant.call('lasting', { prompt: 'Hello' }, { onprogress });
    expect(heard).toEqual([1]);
    await sessionOf(result).runs.at(runOf(result)).cancel();
  });

  test('a client hears that there is another agent', async () => {
    const offered = new OfferedAgents(faces().convoke, []);
    const linkTo = async () => '';
    const mcp = createServer({
      convoke: faces().convoke,
      offered,
      waitMs: 1,
      linkTo,
      version: '1',
      listMs: 50,
    });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'test', version: '1' });
    let isHeard = false;
    client.setNotificationHandler('notifications/tools/list_changed', () => void (isHeard = true));
    await Promise.all([mcp.connect(ours), client.connect(theirs)]);
    onTestFinished(() => client.close());
    const before = await client.listTools();
    await writeAgent(
      faces().server.place,
      'newcomer',
      'framework: scripted\nscript: [{ say: Hello }]\n',
    );
    await eventually(() => isHeard);
    const added = (await client.listTools()).tools.length - before.tools.length;
    expect(added).toBe(1);
  });

  test('the server is killed while a call waits: it is one run, and the model cannot have its payment repeated', async () => {
    const assistant = await connect({}, 'pays', '--wait', '1h');
    const called = assistant.call('pays', { prompt: 'Hello' });
    await eventually(() => paymentsIn(faces().server.place) > 0);
    await faces().killAndRestart();
    const result = await called;
    expect(result.structuredContent).toMatchObject({ status: 'waiting' });
    expect(result.content[0]?.text).toContain('Only a person can answer this.');
    const run_id = runOf(result);
    for (const answer of ['No, run it now', '2']) {
      const refused = await assistant.call('convoke_answer', { run_id, answer });
      expect(refused).toMatchObject({ isError: true });
    }
    const [ask] = await pending(result);
    const { label = '' } = ask?.options?.[0] ?? {};
    await sessionOf(result).interactions.answer(ask?.interaction_key ?? '', { answer: label });
    const end = await assistant.call('convoke_wait', { run_id });
    expect(end.structuredContent).toMatchObject({ status: 'completed', text: 'I pay it. Paid.' });
    expect(paymentsIn(faces().server.place)).toBe(1);
    expect(await runsOf(end)).toHaveLength(1);
  });
});

function accept(content: Record<string, string>): Filled {
  return { action: 'accept', content };
}

function runOf({ structuredContent }: CallResult): string {
  return structuredContent?.['run_id'] ?? '';
}

function sessionOf({ structuredContent }: CallResult): SessionHandle {
  return faces().convoke.sessions.at(structuredContent?.['session_id'] ?? '');
}

async function pending(result: CallResult) {
  return (await sessionOf(result).interactions.pending().page()).items;
}

async function runsOf(result: CallResult) {
  return (await sessionOf(result).runs.list().page()).items;
}

/** Calls of the newer era, as no library sends them; their answers in the order in which they come. */
async function rawCalls(calls: readonly object[]): Promise<unknown[]> {
  const { command, args, env, cwd } = faces().program('mcp');
  const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill());
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  for (const [id, params] of calls.entries()) {
    const request = { jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, _meta } };
    child.stdin.write(`${JSON.stringify(request)}\n`);
  }
  const answers: unknown[] = [];
  for await (const line of createInterface(child.stdout)) {
    const message = JSON.parse(line) as { readonly id?: number };
    if (message.id !== undefined) answers.push(message);
    if (answers.length === calls.length) break;
  }
  return answers;
}
