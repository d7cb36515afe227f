import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Answer } from '../../../src/ports/harness.ts';
import { denying } from '../sittings.ts';
import { AiSdkPlace, type AiSdkSession } from './agent.ts';

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

test('an approved tool runs with the input of the answer, not with the input of the model (D-39)', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['write_file'] }));
  const { asked } = await session.play(`${writing('wanted.txt')} ;; last`);
  expect(asked).toMatchObject([{ toolInput: { path: 'wanted.txt', text: 'wanted.txt' } }]);
  const { end } = await session.resume({
    [asked[0]?.ref ?? '']: allowing({ path: 'approved.txt', text: 'as edited' }),
  });
  expect(end).toMatchObject({ outcome: 'completed' });
  expect(await read(session, 'approved.txt')).toBe('as edited');
  expect(await read(session, 'wanted.txt')).toBeUndefined();
});

test('a tool refuses an approved input that a person made invalid', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['write_file'] }));
  await session.play(`${writing('a.txt')} ;; last`);
  const said = await session.resume({ 'call-1-1': allowing({ file: 'a.txt' }) });
  expect(said.custom('tool_result')).toMatchObject([{ name: 'write_file', ok: false }]);
  expect(said.end).toMatchObject({ outcome: 'completed' });
});

test('two approvals and a question of one step are raised together, and each gets its own answer', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['write_*'] }));
  const question = 'call ask_user {"question":"Which colour?","options":[{"label":"red"}]}';
  const { asked, end } = await session.play(
    `say Three things && ${writing('a.txt')} && ${question} && ${writing('b.txt')} ;; last`,
  );
  expect(end).toMatchObject({ outcome: 'waiting' });
  expect(asked.map(({ type, ref }) => [type, ref])).toEqual([
    ['permission_request', 'call-1-1'],
    ['user_question', 'call-1-2'],
    ['permission_request', 'call-1-3'],
  ]);
  const { text } = await session.resume({
    'call-1-1': allowing({ path: 'a.txt', text: 'a' }),
    'call-1-2': { kind: 'question', values: ['red'] },
    'call-1-3': denying,
  });
  expect(text).toContain(
    'Wrote 1 bytes to a.txt. | red | The person did not allow this: not today',
  );
  expect(await read(session, 'a.txt')).toBe('a');
  expect(await read(session, 'b.txt')).toBeUndefined();
});

test('a tool that needs no permission runs at once, beside one that waits for it', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['run_command'] }));
  const { asked } = await session.play(
    `${writing('a.txt')} && call run_command {"command":"true"} ;; last`,
  );
  expect(asked).toMatchObject([{ toolName: 'run_command' }]);
  expect(await read(session, 'a.txt')).toBe('a.txt');
  const { text } = await session.resume({ [asked[0]?.ref ?? '']: denying });
  expect(text).toContain('Wrote 5 bytes to a.txt. | The person did not allow this');
});

test('a call without an answer is not executed, even if the others are', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['write_file'] }));
  await session.play(`${writing('a.txt')} && ${writing('b.txt')} ;; last`);
  const { text, end } = await session.resume({
    'call-1-1': allowing({ path: 'a.txt', text: 'a' }),
  });
  expect(end).toMatchObject({ outcome: 'completed' });
  expect(text).toContain('No answer was given.');
  expect(await read(session, 'b.txt')).toBeUndefined();
});

test('declining a question is an answer too', async () => {
  const session = await place.session(place.agent());
  await session.play('call ask_user {"question":"Your name?"} ;; last');
  const declined: Answer = { kind: 'question', declined: true, reason: 'private' };
  expect((await session.resume({ 'call-1-1': declined })).text).toContain(
    'The person declined to answer: private',
  );
});

test('an input too large to be shown whole is refused, not shortened', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['write_file'] }));
  const input = { path: 'a.txt', text: 'x'.repeat(300_000) };
  const { asked, end, text } = await session.play(
    `call write_file ${JSON.stringify(input)} ;; last`,
  );
  expect(asked).toEqual([]);
  expect(end).toMatchObject({ outcome: 'completed' });
  expect(text).toContain('cannot be approved');
  expect(await read(session, 'a.txt')).toBeUndefined();
});

test('calls of later steps are separate interactions, even if the model reuses its ids', async () => {
  const session = await place.session(place.agent({ approvalRequiredTools: ['*'] }));
  const { asked } = await session.play(`${writing('a.txt')} ;; ${writing('b.txt')} ;; last`);
  const later = await session.resume({ [asked[0]?.ref ?? '']: denying });
  expect(later.asked[0]?.ref).not.toBe(asked[0]?.ref);
});
