import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runId, sessionId } from '@convoke/contract';
import { afterAll, expect, test } from 'vitest';
import type { Answer, HarnessEvent } from '../../../src/ports/harness.ts';
import { noTexts, readBy, temporaryFolder, writeFiles } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import { AiSdkPlace, type AiSdkSession } from './agent.ts';
import { openEffects } from '../../support/effects.ts';

const place = await AiSdkPlace.open();
afterAll(() => place.close());

const writing = (path: string) => `call write_file ${JSON.stringify({ path, text: path })}`;
const allowing = (input: Extract<Answer, { allow: true }>['input']): Answer => ({
  kind: 'permission',
  allow: true,
  input,
});
const read = ({ sessionFolder }: AiSdkSession, path: string) =>
  readFile(join(sessionFolder, path), 'utf8').catch(() => undefined);

test('instructions, context files, CLAUDE.md and skills reach the model', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    'workspace/docs/STYLE.md': 'Write like a blueheron.',
    'workspace/CLAUDE.md': 'Beware of the greywolf.',
    'skills/paint/SKILL.md': '---\nname: paint\ndescription: Paints a redfox.\n---\nUse browninks.',
  });
  const agent = place.agent({
    folder,
    contextFiles: ['docs/STYLE.md'],
    enableClaudeMd: true,
    settings: { instructions: 'You are the whiteowl.' },
  });
  const probes =
    'probe white+owl && probe blue+heron && probe grey+wolf && probe red+fox && probe brown+inks';
  const { text } = await (await place.session(agent)).play(probes);
  expect(text).toContain('whiteowl: yes');
  expect(text).toContain('blueheron: yes');
  expect(text).toContain('greywolf: yes');
  expect(text).toContain('redfox: yes');
  // A skill is read when it is needed.
  expect(text).toContain('browninks: no');
  const reading = await (await place.session(agent)).play(
    'call read_file {"path":".agents/skills/paint/SKILL.md"} ;; last',
  );
  expect(reading.text).toContain('Use browninks.');
});

test('an agent that cannot read files gets the whole skills, and CLAUDE.md only if it enables it', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    'workspace/CLAUDE.md': 'Beware of the greywolf.',
    'skills/paint/SKILL.md': '---\nname: paint\ndescription: Paints a redfox.\n---\nUse browninks.',
  });
  const agent = place.agent({ folder, settings: { tools: ['none'] } });
  const { text } = await (await place.session(agent)).play('probe grey+wolf && probe brown+inks');
  expect(text).toContain('greywolf: no');
  expect(text).toContain('browninks: yes');
});

test('a file that changes after it was announced does not reach the model', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    'workspace/docs/STYLE.md': 'Write like a blueheron.',
    'workspace/CLAUDE.md': 'Beware of the greywolf.',
    'skills/paint/SKILL.md': '---\nname: paint\ndescription: Paints a redfox.\n---\nUse browninks.',
  });
  const settings = { tools: ['none'] };
  const contextFiles = ['docs/STYLE.md'];
  const agent = place.agent({ folder, contextFiles, enableClaudeMd: true, settings });
  const session = await place.session(agent);
  const skill = '---\nname: paint\ndescription: Paints a redfox.\n---\nUse changedwords.';
  await writeFiles(session.sessionFolder, {
    'docs/STYLE.md': 'changedwords',
    'CLAUDE.md': 'changedwords',
    '.agents/skills/paint/SKILL.md': skill,
  });
  await writeFiles(folder, { 'skills/paint/SKILL.md': skill });
  const probes = ['blue+heron', 'grey+wolf', 'brown+inks', 'changed+words'];
  const { text } = await session.play(probes.map((words) => `probe ${words}`).join(' && '));
  expect(text).toContain('blueheron: yes');
  expect(text).toContain('greywolf: yes');
  expect(text).toContain('browninks: yes');
  expect(text).toContain('changedwords: no');
});

test('the model is offered the tools of the allow-list and nothing else', async () => {
  const settings = { tools: ['read_*', 'list_files'], ask_user: false };
  await (await place.session(place.agent({ settings }))).play('say only-these-tools');
  const [request] = place.modelServer.log.having('only-these-tools');
  expect(request?.tools).toEqual(['list_files', 'read_file']);
});

/** Every report, alone or with a recovery point. */
function usageIn(events: readonly HarnessEvent[]) {
  return events.flatMap((event) => {
    const report = event.type === 'checkpoint' ? event.usage : event;
    return report?.type === 'usage' ? [report] : [];
  });
}

test('tokens are counted over all steps of a leg', async () => {
  const { events } = await (await place.session(place.agent())).play(
    'call list_files {} ;; call list_files {} ;; say done',
  );
  expect(usageIn(events).at(-1)).toEqual({
    type: 'usage',
    inputTokens: 300,
    outputTokens: 30,
    cachedInputTokens: 0,
    reasoningTokens: 0,
  });
});

test('what a cancelled message used is not known (D-97)', async () => {
  const session = await place.session(place.agent());
  const leg = session.start('@@ say one && hang');
  const { events } = await session.hear(leg, {
    onEvent: ({ type }) => type === 'message_delta' && session.cancel(leg),
  });
  expect(usageIn(events).at(-1)).toMatchObject({ isPartial: true });
  const refused = await session.play('fail 400 no');
  expect(usageIn(refused.events)[0]).not.toHaveProperty('isPartial');
});

test('what an answer used is reported with the recovery point behind it', async () => {
  const { events } = await (await place.session(place.agent())).play(
    'call list_files {} ;; say done',
  );
  const points = events.filter((event) => event.type === 'checkpoint');
  const used = points.map(({ usage }) => usage?.outputTokens);
  // The point behind the results of the call has no new answer.
  expect(used).toEqual([10, undefined, 20]);
  expect(events.some(({ type }) => type === 'usage')).toBe(false);
});

test('an agent that does not finish is stopped after max_steps', async () => {
  const settings = { limits: { max_steps: 3 } };
  const session = await place.session(place.agent({ settings }));
  const { end } = await session.play(Array(9).fill('call list_files {}').join(' ;; '));
  expect(end).toMatchObject({
    outcome: 'error',
    code: 'agent_error',
    message: expect.stringContaining('after 3 steps'),
  });
});

test('steps before a question count too', async () => {
  const settings = { limits: { max_steps: 2 } };
  const session = await place.session(place.agent({ settings }));
  await session.play('call list_files {} ;; call ask_user {"question":"Continue?"} ;; say never');
  const { end } = await session.resume({ 'call-2-1': { kind: 'question', values: ['yes'] } });
  expect(end).toMatchObject({ outcome: 'error', code: 'agent_error' });
});

test('a cancel closes the connection to the model, and the text so far is remembered', async () => {
  const session = await place.session(place.agent());
  const leg = session.start('Please. @@ say the-secret-is-kept and && slow 1000 20');
  const { end } = await session.hear(leg, {
    onEvent: (event) => event.type === 'message_delta' && session.cancel(leg),
  });
  expect(end).toMatchObject({ outcome: 'cancelled' });
  const [request] = place.modelServer.log.having('say the-secret-is-kept');
  await eventually(() => request?.ended === 'early');
  expect(request?.wasCut).toBe(false);
  expect((await session.play('probe "the-secret-is-k+ept')).text).toContain(': yes');
});

test('the call that a cancelled run left open is closed before the next prompt', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['write_file'] }));
  expect((await session.play(writing('a.txt'))).end).toMatchObject({ outcome: 'waiting' });
  const { end, text } = await session.play('probe the run ended before the call was appro+ved');
  expect(end).toMatchObject({ outcome: 'completed' });
  expect(text).toContain(': yes');
  expect(await read(session, 'a.txt')).toBeUndefined();
});

test('the result of an approved tool is remembered even if the server dies before the model answers', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['write_file'] }));
  await session.play(`${writing('a.txt')} ;; say hm && hang`);
  const input = { path: 'a.txt', text: 'a' };
  const leg = session.start('', new Map([['call-1-1', allowing(input)]]));
  const dying = session.hear(leg, {
    onEvent: ({ type }) => {
      if (type === 'message_delta') throw new Error('the server died');
    },
  });
  await expect(dying).rejects.toThrow('the server died');
  await leg.kill();
  const { text } = await session.play('probe Wrote 1 bytes to a+.txt');
  expect(text).toContain(': yes');
});

test('no call starts before the message of the model is complete (D-80)', async () => {
  const session = await place.session(place.agent({ dialect: 'anthropic' }));
  const leg = session.start(`@@ ${writing('a.txt')} && say I have called && hang`);
  const { end, events } = await session.hear(leg, {
    onEvent: ({ type }) => type === 'message_delta' && session.cancel(leg),
  });
  expect(end).toMatchObject({ outcome: 'cancelled' });
  expect(events.some(({ type }) => type === 'checkpoint')).toBe(false);
  expect(await read(session, 'a.txt')).toBeUndefined();
});

test('a step has two recovery points: its open calls, and their results (D-85)', async () => {
  const session = await place.session(place.agent());
  const { events } = await session.play(`say Writing. && ${writing('a.txt')} ;; say Done.`);
  const points = events.flatMap((event) =>
    event.type === 'checkpoint' && event.recovery === true ? [event.state] : [],
  );
  expect(points).toMatchObject([
    { open: [{ ref: 'call-1-1', kind: 'run', name: 'write_file' }], hasSpoken: true },
    { open: [] },
    { open: [] },
  ]);
});

/** A session whose run was lost with its call open, as its agent is after a change. */
async function lostBeforeCall(now: Parameters<typeof place.agent>[0]): Promise<AiSdkSession> {
  const session = await place.session(place.agent());
  const leg = session.start(`@@ ${writing('a.txt')} ;; last`);
  const dying = session.hear(leg, {
    onEvent: ({ type }) => {
      if (type === 'checkpoint') throw new Error('the server died');
    },
  });
  await expect(dying).rejects.toThrow('the server died');
  await leg.kill();
  return session.movedTo(place.harness(), place.agent(now)) as AiSdkSession;
}

test('a call whose tool is gone is answered, not run (D-99)', async () => {
  const session = await lostBeforeCall({ settings: { tools: ['read_file'] } });
  const { text } = await session.hear(session.goOn());
  expect(text).toBe('tool said: write_file is no longer one of the tools');
});

test('a call that needs approval since the agent changed is not run without it', async () => {
  const session = await lostBeforeCall({ approvalRequiredTools: ['write_file'] });
  const { end, asked } = await session.hear(session.goOn());
  expect(end).toMatchObject({ outcome: 'waiting' });
  expect(asked).toMatchObject([{ ref: 'call-1-1', toolInput: { path: 'a.txt' } }]);
});

test('a call that was left gets the note about it, and is not run', async () => {
  const session = await lostBeforeCall({});
  const left = { state: 'left', note: 'It was done by hand.' } as const;
  const known = { 'call-1-1': { toolName: 'write_file', input: {}, ...left } };
  const { text } = await session.hear(session.goOn('', known));
  expect(text).toBe('tool said: It was done by hand.');
});

test('a leg hands its run over behind the message, before its calls begin (D-85)', async () => {
  const session = await place.session(place.agent());
  const leg = session.start(`@@ say Writing. && ${writing('a.txt')} ;; last`);
  const first = await session.hear(leg, {
    onEvent: ({ type }) => type === 'message_delta' && leg.yield?.(),
  });
  expect(first.end).toEqual({ type: 'end', outcome: 'yielded' });
  expect(await read(session, 'a.txt')).toBeUndefined();
  const { text, end } = await session.hear(session.goOn());
  expect([first.text + text, end]).toMatchObject([
    'Writing.\n\ntool said: Wrote 5 bytes to a.txt.',
    { outcome: 'completed' },
  ]);
});

test('a leg hands its run over behind the calls that run, and begins no other (D-85)', async () => {
  const session = await place.session(place.agent());
  const calls = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => writing(`${name}.txt`)).join(' && ');
  const leg = session.start(`@@ ${calls} ;; last`);
  const first = await session.hear(leg, {
    onEvent: (event) => event.type === 'custom' && event.name === 'tool_result' && leg.yield?.(),
  });
  expect(first.end).toEqual({ type: 'end', outcome: 'yielded' });
  expect(await read(session, 'f.txt')).toBeUndefined();
  const { text } = await session.hear(session.goOn());
  expect(text.match(/Wrote 5 bytes/g)).toHaveLength(6);
  expect(await read(session, 'f.txt')).toBe('f.txt');
});

test('a run that had its answer only ends', async () => {
  const session = await place.session(place.agent());
  await session.play('say the-only-answer');
  const { events, end } = await session.hear(session.goOn());
  expect(end).toMatchObject({ outcome: 'completed' });
  expect(events.filter(({ type }) => type === 'message_delta')).toEqual([]);
  expect(place.modelServer.log.having('the-only-answer')).toHaveLength(1);
});

test('a run that the model rejects leaves nothing in the memory', async () => {
  const session = await place.session(place.agent());
  await session.play('say the-first-thing');
  await session.play('fail 400 unacceptable words');
  const { text } = await session.play('probe the-first-th+ing && probe unacceptable wo+rds');
  expect(text).toContain('the-first-thing: yes');
  expect(text).toContain('unacceptable words: no');
});

test('when the conversation is too long for the model, the older half is dropped', async () => {
  const session = await place.session(place.agent());
  for (const word of ['first', 'second', 'third']) await session.play(`say ${word}`);
  const said = await session.play('fail 400 the prompt is too long');
  // This model always rejects it; each request must be shorter than the one before.
  expect(said.custom('memory_shortened')).toHaveLength(2);
  expect(said.end).toMatchObject({ outcome: 'error', code: 'model_error' });
  const sizes = place.modelServer.log
    .having('fail 400 the prompt')
    .map(({ source }) => source.length);
  expect(sizes).toHaveLength(3);
  expect(sizes.toSorted((a, b) => b - a)).toEqual(sizes);
});

test('a session whose agent had another framework before starts over and reports it', async () => {
  const session = await place.session(place.agent());
  const { sessionFolder } = session;
  const agent = readBy(session.harness, place.agent());
  const context = {
    runId: runId('run_1'),
    sessionId: sessionId('sess_1'),
    agent,
    settings: agent.settings,
    runNumber: 2,
    prompt: '@@ say hello',
    input: {},
    sessionFolder,
    stateDir: sessionFolder,
    texts: noTexts,
    state: { run: 'run_1', script: 'x', step: 1, answer: '' },
    signal: new AbortController().signal,
    holdsLease: () => true,
    effects: openEffects,
  };
  const said = await session.hear(session.harness.start({ kind: 'prompt' }, context));
  expect(said.custom('memory_lost')).toEqual([{}]);
  expect(said.text).toBe('hello');
  const answers = new Map<string, Answer>();
  const resumed = await session.hear(session.harness.start({ kind: 'resume', answers }, context));
  expect(resumed.end).toMatchObject({ outcome: 'error', code: 'agent_error' });
});
