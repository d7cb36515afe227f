import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../../src/ports/harness.ts';
import { agentOf, temporaryFolder } from '../../support/agent-folders.ts';
import { type Start, allow, deny, play, say, stateOf, textOf } from './leg.ts';

describe('ask', () => {
  const agent = agentOf({
    script: [
      { say: 'Hi. ' },
      {
        ask: {
          question: 'Who, {{prompt}}?',
          options: ['Ada', { label: 'Bob', description: 'the other' }],
        },
      },
      { say: 'Thanks, {{answer}}.' },
    ],
  });

  test('raises one question, checkpoints and parks', async () => {
    const events = await play({ agent });
    expect(events.slice(2)).toEqual([
      {
        type: 'user_question',
        ref: 'step-1',
        question: 'Who, hello?',
        options: [{ label: 'Ada' }, { label: 'Bob', description: 'the other' }],
      },
      { type: 'checkpoint', state: expect.anything(), recovery: true },
      { type: 'end', outcome: 'waiting' },
    ]);
  });

  test('continues with the answer in another process', async () => {
    const state = stateOf(await play({ agent }));
    const events = await play({ agent: { ...agent }, state, answers: { 'step-1': say('Ada') } });
    expect(textOf(events)).toBe('Thanks, Ada.');
    expect(events.at(-1)).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('that is declined continues with an empty answer', async () => {
    const state = stateOf(await play({ agent }));
    const declined: Answer = { kind: 'question', declined: true, reason: 'no' };
    expect(textOf(await play({ agent, state, answers: { 'step-1': declined } }))).toBe('Thanks, .');
  });

  test('left open by a cancelled run does not affect the next prompt', async () => {
    const state = stateOf(await play({ agent }));
    const events = await play({ agent, state, runId: runId('run_2'), prompt: 'again' });
    expect(textOf(events)).toBe('Hi. ');
    expect(events[2]).toMatchObject({ type: 'user_question', question: 'Who, again?' });
  });

  test.each<[string, Partial<Start>, string]>([
    ['without a checkpoint', { state: undefined }, 'no checkpoint of its own'],
    ['with the checkpoint of another run', { runId: runId('run_2') }, 'no checkpoint of its own'],
    ['without its answer', { answers: { other: say('x') } }, 'without its answer'],
    [
      'with a decision for a question',
      { answers: { 'step-1': deny } },
      'answered with a permission decision',
    ],
    [
      'after its script was changed',
      { agent: agentOf({ script: [{ say: 'new' }] }) },
      'was changed while',
    ],
  ])('resumed %s ends with an error that names the cause', async (_, changed, message) => {
    const state = stateOf(await play({ agent }));
    const events = await play({ agent, state, answers: { 'step-1': say('Ada') }, ...changed });
    expect(events).toEqual([
      {
        type: 'end',
        outcome: 'error',
        code: 'agent_error',
        message: expect.stringContaining(message),
      },
    ]);
  });
});

describe('tools', () => {
  const write = {
    tool: { name: 'write_file', input: { path: 'notes/a.txt', text: '{{prompt}}\n' } },
  };
  const read = (path: string) => ({ tool: { name: 'read_file', input: { path } } });

  test('that need no permission run at once and report their result', async () => {
    const sessionFolder = await temporaryFolder();
    const events = await play({
      agent: agentOf({ script: [write, read('notes/a.txt')] }),
      sessionFolder,
    });
    expect(events).toEqual([
      {
        type: 'custom',
        name: 'tool_call',
        data: {
          tool_call_id: 'step-0',
          name: 'write_file',
          input: { path: 'notes/a.txt', text: 'hello\n' },
        },
      },
      {
        type: 'custom',
        name: 'tool_result',
        data: { tool_call_id: 'step-0', name: 'write_file', path: 'notes/a.txt', size_bytes: 6 },
      },
      { type: 'checkpoint', state: expect.objectContaining({ step: 1 }), recovery: true },
      {
        type: 'custom',
        name: 'tool_call',
        data: { tool_call_id: 'step-1', name: 'read_file', input: { path: 'notes/a.txt' } },
      },
      {
        type: 'custom',
        name: 'tool_result',
        data: { tool_call_id: 'step-1', name: 'read_file', output: 'hello\n' },
      },
      { type: 'end', outcome: 'completed' },
    ]);
  });

  test('that are gated ask with the exact input and change nothing before the answer', async () => {
    const sessionFolder = await temporaryFolder();
    const agent = agentOf({ script: [write], approvalRequiredTools: ['write_*'] });
    const events = await play({ agent, sessionFolder });
    expect(events).toEqual([
      {
        type: 'permission_request',
        ref: 'step-0',
        toolCallId: 'step-0',
        toolName: 'write_file',
        toolInput: { path: 'notes/a.txt', text: 'hello\n' },
      },
      { type: 'checkpoint', state: expect.anything(), recovery: true },
      { type: 'end', outcome: 'waiting' },
    ]);
    await expect(readFile(join(sessionFolder, 'notes/a.txt'))).rejects.toThrow('ENOENT');
    expect(JSON.stringify(stateOf(events))).not.toContain('hello');
  });

  test('run with the approved input, never with the input of the script (D-39)', async () => {
    const sessionFolder = await temporaryFolder();
    const agent = agentOf({
      script: [write, { say: 'done' }],
      approvalRequiredTools: ['write_file'],
    });
    const state = stateOf(await play({ agent, sessionFolder }));
    const answers = { 'step-0': allow({ path: 'b.txt', text: 'approved' }) };
    expect(textOf(await play({ agent, sessionFolder, state, answers }))).toBe('done');
    expect(await readFile(join(sessionFolder, 'b.txt'), 'utf8')).toBe('approved');
    await expect(readFile(join(sessionFolder, 'notes/a.txt'))).rejects.toThrow('ENOENT');
  });

  test('that are refused say "denied", complete the run and never run', async () => {
    const sessionFolder = await temporaryFolder();
    const agent = agentOf({ script: [write, { say: 'after' }], approvalRequiredTools: ['*'] });
    const state = stateOf(await play({ agent, sessionFolder }));
    const events = await play({ agent, sessionFolder, state, answers: { 'step-0': deny } });
    expect(textOf(events)).toBe('denied');
    expect(events.at(-1)).toEqual({ type: 'end', outcome: 'completed' });
    await expect(readFile(join(sessionFolder, 'notes/a.txt'))).rejects.toThrow('ENOENT');
  });

  test.each([
    [read('none.txt'), 'the file does not exist'],
    [read('../outside.txt'), 'stay inside the workspace'],
    [read('/etc/passwd'), 'stay inside the workspace'],
    [read('link.txt'), 'leads through a link'],
    [read('linked/secret.txt'), 'not a folder'],
    [read('folder'), 'names a folder'],
    [{ tool: { name: 'read_file', input: { file: 'x' } } }, 'the input must be {path}'],
    [{ tool: { name: 'write_file', input: { path: 'folder', text: 'x' } } }, 'names a folder'],
    [{ tool: { name: 'write_file', input: { path: 'linked/x', text: 'x' } } }, 'not a folder'],
    [
      { tool: { name: 'write_file', input: { path: 'x', text: 'x'.repeat(1_048_577) } } },
      'larger than',
    ],
  ])('that cannot do %j end the run with tool_error', async (step, message) => {
    const [sessionFolder, outside] = [await temporaryFolder(), await temporaryFolder()];
    await writeFile(join(outside, 'secret.txt'), 'secret');
    await symlink(join(outside, 'secret.txt'), join(sessionFolder, 'link.txt'));
    await symlink(outside, join(sessionFolder, 'linked'));
    await mkdir(join(sessionFolder, 'folder'));
    const events = await play({ agent: agentOf({ script: [step] }), sessionFolder });
    expect(events).toEqual([
      expect.objectContaining({ name: 'tool_call' }),
      {
        type: 'end',
        outcome: 'error',
        code: 'tool_error',
        message: expect.stringContaining(message),
      },
    ]);
    expect(JSON.stringify(events)).not.toContain(sessionFolder);
  });

  test('write over a planted link, not through it', async () => {
    const [sessionFolder, outside] = [await temporaryFolder(), await temporaryFolder()];
    await writeFile(join(outside, 'target'), 'untouched');
    await symlink(join(outside, 'target'), join(sessionFolder, 'a.txt'));
    const step = { tool: { name: 'write_file', input: { path: 'a.txt', text: 'mine' } } };
    await play({ agent: agentOf({ script: [step] }), sessionFolder });
    expect(await readFile(join(outside, 'target'), 'utf8')).toBe('untouched');
    expect(await readFile(join(sessionFolder, 'a.txt'), 'utf8')).toBe('mine');
  });

  test('read at most 64 KiB and cut between characters', async () => {
    const sessionFolder = await temporaryFolder();
    await writeFile(join(sessionFolder, 'big.txt'), `x${'é'.repeat(40_000)}`);
    const script = [read('big.txt')];
    const [, event] = await play({ agent: agentOf({ script }), sessionFolder });
    const data = event?.type === 'custom' ? event.data : {};
    expect(data['truncated']).toBe(true);
    expect(data['output']).toBe(`x${'é'.repeat(32_767)}`);
  });
});

test('a run resumed through JSON at every step emits the same text as an uninterrupted run', async () => {
  const sessionFolder = await temporaryFolder();
  const note = { path: 'n.txt', text: '{{answer}}' };
  const agent = agentOf({
    approvalRequiredTools: ['write_file'],
    script: [
      { say: 'begin ' },
      {
        repeat: {
          times: 3,
          steps: [
            { ask: { question: 'q' } },
            { say: '{{answer}} ' },
            {
              repeat: {
                times: 2,
                steps: [{ tool: { name: 'write_file', input: note } }, { say: 'w ' }],
              },
            },
          ],
        },
      },
      { say: 'end {{answer}}' },
    ],
  });
  let said = '';
  let asked = 0;
  let events = await play({ agent, sessionFolder });
  for (;;) {
    said += textOf(events);
    const question = events.find((event) => event.type === 'user_question');
    const request = events.find((event) => event.type === 'permission_request');
    const ref = question?.ref ?? request?.ref;
    if (ref === undefined) break;
    if (question !== undefined) asked += 1;
    expect(request?.toolInput ?? note).toEqual(
      request ? { path: 'n.txt', text: `a${asked}` } : note,
    );
    const answer = request ? allow(request.toolInput) : say(`a${asked}`);
    const state = stateOf(events);
    events = await play({ agent: { ...agent }, sessionFolder, state, answers: { [ref]: answer } });
  }
  expect(said).toBe('begin a1 w w a2 w w a3 w w end a3');
  expect(await readFile(join(sessionFolder, 'n.txt'), 'utf8')).toBe('a3');
});
