// `convoke mcp` as assistants use it: their own client libraries start the command, against a real server.
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionHandle } from '@convoke/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import type {
  Assistant,
  CallResult,
  Filled,
  Filling,
  ShownForm,
} from '../../../server/test/http/faces/mcp-clients.ts';
import { eventually } from '../../../server/test/support/eventually.ts';
import { root, textOf } from '../../../../test/repository.ts';
import { paymentsIn } from '../agent-programs.ts';
import { useFaceServer } from './face-server.ts';
import { mcpClients } from './mcp-clients.ts';

const faces = useFaceServer();

describe.each(Object.entries(mcpClients))('%s', (_, connectTo) => {
  async function connect(filling: Filling = {}, ...words: string[]): Promise<Assistant> {
    const assistant = await connectTo({ program: faces().program('mcp', ...words), ...filling });
    onTestFinished(() => assistant.close());
    return assistant;
  }

  test('lists agents as tools, calls one, and continues its session', async () => {
    const assistant = await connect({}, 'echo', 'demo');
    const names = (await assistant.tools()).map(({ name }) => name);
    expect(names).toEqual(['demo', 'echo', 'convoke_wait', 'convoke_answer', 'convoke_cancel']);
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
});

describe('convoke mcp', () => {
  const [newest = '', connectTo] = Object.entries(mcpClients).at(-1) ?? [];

  async function connect(filling: Filling = {}, ...words: string[]): Promise<Assistant> {
    if (connectTo === undefined) throw new Error(newest);
    const assistant = await connectTo({ program: faces().program('mcp', ...words), ...filling });
    onTestFinished(() => assistant.close());
    return assistant;
  }

  test('prints the address for programs that send a token themselves', async () => {
    const { organization_id, tenant_id, base_url } = faces().server.quickstart;
    const at = `${base_url}/v1/mcp/${organization_id}/${tenant_id}`;
    const plain = await faces().settings.run(['mcp', '--url']);
    expect(plain.stdout).toBe(`${at}\n`);
    const full = await faces().settings.run(['mcp', 'demo', 'echo', '--wait', '2m', '--url']);
    expect(full.stdout).toBe(`${at}?agents=demo%2Cecho&wait=120\n`);
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
    const program = { ...faces().program('mcp'), command, args };
    const assistant = await connectTo({ program });
    onTestFinished(() => assistant.close());
    const result = await assistant.call('echo', { prompt: 'Hello' });
    expect(result.content[0]?.text).toBe('Hello (run 1)');
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
