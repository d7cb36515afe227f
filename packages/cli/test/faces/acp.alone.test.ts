// `convoke acp` as editors use it: the client of the protocol's own SDK starts the command, against a real server.
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import { acpHarness } from '../../../server/src/harness/acp/harness.ts';
import { systemClock } from '../../../server/src/runtime/clock.ts';
import { acpAgent } from '../../../server/test/harness/acp/use-acp-agent.ts';
import { Sitting, allowing } from '../../../server/test/harness/sittings.ts';
import { recordingLog } from '../../../server/test/support/agent-folders.ts';
import { eventually } from '../../../server/test/support/eventually.ts';
import { root, textOf } from '../../../../test/repository.ts';
import { paymentsIn } from '../agent-programs.ts';
import { mainPath, ownEnvironment } from '../command-line.ts';
import { type Editor, type Person, openEditor } from './acp-editor.ts';
import { useFaceServer } from './face-server.ts';
import { unconfined } from './unconfined.ts';

const faces = useFaceServer();

async function open(agent: string, person: Person = {}): Promise<Editor> {
  const editor = await openEditor(faces().program('acp', agent), person);
  onTestFinished(() => editor.close());
  return editor;
}

const allow = ({ options }: RequestPermissionRequest) => options[0]?.optionId;

function callsIn(updates: readonly SessionUpdate[]) {
  return updates.flatMap((update) => (update.sessionUpdate === 'tool_call' ? [update] : []));
}

function endsIn(updates: readonly SessionUpdate[]) {
  return updates.flatMap((update) =>
    update.sessionUpdate === 'tool_call_update' ? [update.status] : [],
  );
}

async function runsOf(sessionId: string) {
  return (await faces().convoke.sessions.at(sessionId).runs.list().page()).items;
}

describe('a turn', () => {
  test('of an agent that takes no words is JSON, and so is what it returns (D-570)', async () => {
    const editor = await open('typed');
    const sessionId = await editor.newSession();
    await expect(editor.prompt(sessionId, 'Ticket 7')).rejects.toThrow('takes no words');
    await editor.prompt(sessionId, '{"ticket": 7}');
    const answer = 'Read 7.\n\n```json\n{\n  "team": "tech"\n}\n```\n';
    expect(editor.text()).toBe(answer);
    await expect(editor.prompt(sessionId, '{"ticket": "7"}')).rejects.toThrow('/input/ticket');
    const other = await open('typed');
    await other.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
    expect(other.text()).toBe(answer);
  });

  test('streams the words, asks with a form and for permission, and shows each call once', async () => {
    const asked: RequestPermissionRequest[] = [];
    const editor = await open('demo', {
      fill: () => ({ action: 'accept', content: { answer: 'Captain' } }),
      choose: (request) => {
        asked.push(request);
        return 'allow';
      },
    });
    const sessionId = await editor.newSession();
    expect(await editor.prompt(sessionId, 'Hello')).toEqual({ stopReason: 'end_turn' });
    const [run] = await runsOf(sessionId);
    expect(editor.text()).toBe(run?.record.output_text);
    expect(callsIn(editor.updates).map(({ title }) => title)).toEqual([
      'What should I call you?',
      'write_file',
    ]);
    expect(endsIn(editor.updates).filter((status) => status === 'completed')).toHaveLength(2);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.toolCall.rawInput).toMatchObject({ path: 'outputs/note.txt' });
    expect((await faces().convoke.sessions.get(sessionId)).record.labels).toEqual({
      cwd: faces().server.place,
    });
  });

  test('continues while its run waits for a message: nobody is asked anything', async () => {
    const editor = await open('dozing', { choose: () => expect.unreachable() });
    const sessionId = await editor.newSession();
    const ended = editor.prompt(sessionId, 'Hello');
    const run = await eventually(async () => {
      const [newest] = await runsOf(sessionId);
      return newest?.record.open_waits === 1 && newest;
    });
    await eventually(() => editor.text() === 'Hm. ');
    await run.signal('go', 'on');
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect([editor.text(), callsIn(editor.updates)]).toEqual(['Hm. Got on.', []]);
  });

  test('offers the options of a question where the editor has no forms; a call that is denied has failed', async () => {
    const editor = await open('demo', {
      choose: ({ options }) => (options[0]?.name === 'Captain' ? '1' : 'deny'),
    });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, 'Hello');
    expect(editor.text()).toContain('Nice to meet you, Friend.');
    expect(endsIn(editor.updates)).toContain('failed');
  });

  test('ends with a question that no dialog can show: the next prompt is its answer, in the same run', async () => {
    const editor = await open('patient');
    const sessionId = await editor.newSession();
    expect(await editor.prompt(sessionId, 'Hello')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text()).toContain('Which colour?');
    expect(await editor.prompt(sessionId, 'Red')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text()).toMatch(/It is Red\.$/);
    expect(await runsOf(sessionId)).toHaveLength(1);
  });

  test('leaves a permission pending whose dialog is closed, and asks again with the next prompt', async () => {
    const answers: (string | undefined)[] = ['0', undefined, 'allow', '0', 'allow'];
    const editor = await open('demo', { choose: () => answers.shift() });
    const sessionId = await editor.newSession();
    expect(await editor.prompt(sessionId, 'Hello')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text()).toMatch(/\(waiting for permission to run write_file: http.*\/console\//);
    const { interactions } = faces().convoke.sessions.at(sessionId);
    expect((await interactions.pending().page()).items).toHaveLength(1);
    expect(await editor.prompt(sessionId, 'And now?')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text()).toContain('You said: And now?');
    const ends = (await runsOf(sessionId)).map(({ record }) => record.status);
    expect(ends).toEqual(['completed', 'completed']);
    expect(editor.text().match(/You said: Hello/g)).toHaveLength(1);
  });

  test('asks once for a call that may be remembered, and leaves what others decide to them', async () => {
    const kinds: string[][] = [];
    const editor = await open('careful', {
      choose: ({ options }) => {
        kinds.push(options.map(({ kind }) => kind));
        return 'always';
      },
    });
    const sessionId = await editor.newSession();
    expect(await editor.prompt(sessionId, 'Go')).toEqual({ stopReason: 'end_turn' });
    expect(kinds).toEqual([['allow_once', 'allow_always', 'reject_once']]);
    expect(editor.text()).toContain('Written twice.');
    expect(editor.text()).toMatch(
      /run append_file: http:\S+\/console\/\S+\) It is public then\. Allowing it needs a person who is owner\./,
    );
  });

  test('withdraws a dialog whose request is answered elsewhere, and continues', async () => {
    let isWithdrawn = false;
    const editor = await open('patient', {
      fill: async (_form, { signal }) => {
        const [ask] = (await faces().convoke.interactions.list({ agent_name: 'patient' }).page())
          .items;
        if (ask !== undefined) await faces().convoke.interactions.answer(ask, { answer: 'Blue' });
        await eventually(() => signal.aborted);
        isWithdrawn = true;
        return { action: 'cancel' };
      },
    });
    const sessionId = await editor.newSession();
    expect(await editor.prompt(sessionId, 'Hello')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text()).toBe('It is Blue.');
    await eventually(() => isWithdrawn);
  });

  test('is cancelled with its run, also while a dialog is open', async () => {
    let isShown = false;
    const editor = await open('demo', {
      choose: async (_asked, { signal }) => {
        isShown = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return undefined;
      },
    });
    const sessionId = await editor.newSession();
    const turn = editor.prompt(sessionId, 'Hello');
    await eventually(() => isShown);
    await editor.agent.notify('session/cancel', { sessionId });
    expect(await turn).toEqual({ stopReason: 'cancelled' });
    const [run] = await runsOf(sessionId);
    expect(run?.record.status).toBe('cancelled');
  });

  test('of an agent that fails is an error with its message', async () => {
    const editor = await open('fail');
    const sessionId = await editor.newSession();
    await expect(editor.prompt(sessionId, 'fail')).rejects.toThrow('This agent always fails');
  });

  test('takes text of files with the prompt, and neither images nor other files', async () => {
    const editor = await open('echo');
    const sessionId = await editor.newSession();
    const resource = { uri: 'file:///a.txt', text: 'words' };
    await editor.agent.request('session/prompt', {
      sessionId,
      prompt: [
        { type: 'text', text: 'Read ' },
        { type: 'resource_link', name: 'b.txt', uri: 'file:///b.txt' },
        { type: 'resource', resource },
      ],
    });
    expect(editor.text()).toContain('Read [b.txt](file:///b.txt)\n<file uri="file:///a.txt">');
    const image = { type: 'image' as const, data: '', mimeType: 'image/png' };
    const refused = editor.agent.request('session/prompt', { sessionId, prompt: [image] });
    await expect(refused).rejects.toMatchObject({ code: -32602 });
    expect(await runsOf(sessionId)).toHaveLength(1);
  });
});

describe('a session', () => {
  test('is listed, replayed as it was seen, resumed and left', async () => {
    const first = await open('demo', { choose: allow });
    const sessionId = await first.newSession();
    await first.prompt(sessionId, 'Hello');
    first.close();

    const editor = await open('demo', { choose: allow });
    const listed = await editor.agent.request('session/list', { cwd: faces().server.place });
    expect(listed.sessions.find((each) => each.sessionId === sessionId)).toMatchObject({
      cwd: faces().server.place,
      title: 'Hello',
    });
    const elsewhere = await editor.agent.request('session/list', { cwd: '/nowhere' });
    expect(elsewhere.sessions).toEqual([]);
    await editor.agent.request('session/load', {
      sessionId,
      cwd: faces().server.place,
      mcpServers: [],
    });
    expect(editor.text()).toBe(first.text());
    expect(callsIn(editor.updates)).toEqual(callsIn(first.updates));
    expect(editor.updates[0]).toMatchObject({
      sessionUpdate: 'user_message_chunk',
      content: { text: 'Hello' },
    });
    await editor.agent.request('session/resume', { sessionId, cwd: faces().server.place });
    await editor.prompt(sessionId, 'Again');
    expect(editor.text()).toContain('You said: Again');
    await editor.agent.request('session/close', { sessionId });
    expect((await faces().convoke.sessions.get(sessionId)).record.status).toBe('idle');
  });

  test('that is closed in a turn lets its run continue', async () => {
    const editor = await open('lasting');
    const sessionId = await editor.newSession();
    const turn = editor.prompt(sessionId, 'Hello');
    await eventually(() => editor.text() !== '');
    await editor.agent.request('session/close', { sessionId });
    expect(await turn).toEqual({ stopReason: 'cancelled' });
    const [run] = await runsOf(sessionId);
    expect(run?.record.status).toBe('running');
    await run?.cancel();
  });

  test('that does not exist, or is another agent’s, is refused', async () => {
    const editor = await open('demo');
    const { id } = await faces().convoke.sessions.create('echo');
    for (const sessionId of ['sess_x', id]) {
      await expect(editor.prompt(sessionId, 'Hello')).rejects.toMatchObject({ code: -32602 });
      const loaded = editor.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
      await expect(loaded).rejects.toMatchObject({ code: -32602 });
    }
    expect(await runsOf(id)).toEqual([]);
  });
});

test('the settings of the guide work as they are pasted', async () => {
  const guide = textOf('docs/guides/editors-and-assistants.md');
  const [, json = '{}'] = /^```json\n(\{\n {2}"agent_servers"[\s\S]*?)^```/m.exec(guide) ?? [];
  const { agent_servers } = JSON.parse(json) as {
    agent_servers: Record<string, { command: string; args: string[] }>;
  };
  const [first] = Object.values(agent_servers);
  const { command = '', args = [] } = first ?? {};
  await mkdir(join(faces().server.place, 'node_modules/.bin'), { recursive: true });
  await symlink(
    join(root, 'packages/cli/bin/convoke.mjs'),
    join(faces().server.place, 'node_modules/.bin/convoke'),
  );
  const env = ownEnvironment(faces().settings.settings);
  const editor = await openEditor(
    { command, args, env, cwd: faces().server.place },
    { choose: allow },
  );
  onTestFinished(() => editor.close());
  await editor.prompt(await editor.newSession(), 'Hello');
  expect(editor.text()).toContain('Thank you, Captain.');
});

test('the server is killed in a turn: it is one run, and an editor that allows everything repeats no call', async () => {
  const editor = await open('pays', { choose: allow });
  const sessionId = await editor.newSession();
  const turn = editor.prompt(sessionId, 'Hello');
  await eventually(() => paymentsIn(faces().server.place) > 0);
  await faces().killAndRestart();
  expect(await turn).toEqual({ stopReason: 'end_turn' });
  // The agent says its words again, and the editor shows them once (D-473).
  expect(editor.text()).toMatch(/^I pay it\. \n\nThe server stopped [\s\S]*1\. Yes, it/);
  const { interactions } = faces().convoke.sessions.at(sessionId);
  expect((await interactions.pending().page()).items).toHaveLength(1);
  expect(await editor.prompt(sessionId, '1')).toEqual({ stopReason: 'end_turn' });
  expect(editor.text()).toMatch(/Paid\.$/);
  expect(paymentsIn(faces().server.place)).toBe(1);
  expect(await runsOf(sessionId)).toHaveLength(1);
  const later = await open('pays');
  await later.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
  expect(later.text()).toBe('I pay it. Paid.');
});

test('our own framework for such agents runs it: its person answers for the agent', async () => {
  const { base_url = '', client_id = '', client_secret = '' } = faces().server.quickstart;
  const env = {
    ...ownEnvironment(faces().settings.settings),
    CONVOKE_BASE_URL: base_url,
    CONVOKE_CLIENT_ID: client_id,
    CONVOKE_CLIENT_SECRET: client_secret,
  };
  const command = [process.execPath, mainPath, 'acp', 'demo'];
  const agent = acpAgent({
    agent: { approvalRequiredTools: ['other'] },
    settings: { command, env },
  });
  const harness = acpHarness({ sandbox: unconfined, clock: systemClock, log: recordingLog() });
  const places = { sessionFolder: faces().server.place, stateDir: faces().server.place };
  const sitting = new Sitting(harness, { name: 'nested', agent, ...places });
  onTestFinished(() => sitting.release());
  const said = await sitting.say('Hello', allowing);
  expect(said.end).toMatchObject({ outcome: 'completed' });
  expect(said.text).toContain('Thank you, Captain. It is in note.txt.');
  expect(said.asked.map(({ type }) => type)).toEqual(['user_question', 'permission_request']);
});
