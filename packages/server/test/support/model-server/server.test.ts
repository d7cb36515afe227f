import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { startModelServer } from './server.ts';

const server = await startModelServer();
afterAll(() => server.close());

const post = (path: string, body: object, init: RequestInit = {}) =>
  fetch(server.url + path, { method: 'POST', body: JSON.stringify(body), ...init });
const asked = (content: string) => [{ role: 'user', content }];
const tools = [{ name: 'look', input_schema: {} }];

test('the turn that is due shows in the conversation, so nothing is kept', async () => {
  const script = '@@ say Looking && call look {"at":"sky"} ;; last';
  const first = await post('/v1/messages', { model: 'm', tools, messages: asked(script) });
  expect(await first.json()).toMatchObject({
    content: [
      { type: 'text', text: 'Looking' },
      { type: 'tool_use', name: 'look', input: { at: 'sky' } },
    ],
    stop_reason: 'tool_use',
  });
  const messages = [
    ...asked(script),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'blue' }] },
  ];
  const second = await post('/v1/messages', { model: 'm', tools, messages });
  expect(await second.json()).toMatchObject({ content: [{ text: 'tool said: blue' }] });
});

test('each wire format answers whole as well as in a stream', async () => {
  const prompt = '@@ say one two';
  const chat = await post('/v1/chat/completions', { model: 'm', messages: asked(prompt) });
  expect(await chat.json()).toMatchObject({ choices: [{ message: { content: 'one two' } }] });
  const responses = await post('/v1/responses', { model: 'm', input: prompt });
  expect(await responses.json()).toMatchObject({ output: [{ content: [{ text: 'one two' }] }] });
  const contents = [{ parts: [{ text: prompt }] }];
  const google = await post('/v1beta/models/m:generateContent', { contents });
  expect(await google.json()).toMatchObject({
    candidates: [{ content: { parts: [{ text: 'one two' }] } }],
  });
  const streamed = await post('/v1/messages', {
    model: 'm',
    stream: true,
    messages: asked(prompt),
  });
  expect((await streamed.text()).match(/text_delta/g)).toHaveLength(2);
  const counted = await post('/v1/messages/count_tokens', { model: 'm', messages: asked('') });
  expect(await counted.json()).toEqual({ input_tokens: 100 });
});

test('probe sees the whole request, but not itself', async () => {
  const messages = [{ role: 'system', content: 'the blueheron' }, ...asked('@@ probe blue+heron')];
  const found = await post('/v1/chat/completions', { model: 'm', messages });
  expect(await found.text()).toContain('blueheron: yes');
  const missing = await post('/v1/chat/completions', {
    model: 'm',
    messages: asked('@@ probe blue+heron'),
  });
  expect(await missing.text()).toContain('blueheron: no');
});

test('a request for a title, with the prompt in it but no tools, gets one', async () => {
  const messages = asked('Give this a title: @@ call look {}');
  const answer = await post('/v1/messages', { model: 'm', messages });
  expect(await answer.json()).toMatchObject({ content: [{ text: 'A title' }] });
});

test('failures, refusals and a client that disconnects are in the log', async () => {
  const failed = await post('/v1/messages', { model: 'm', messages: asked('@@ fail 529') });
  expect(failed.status).toBe(529);
  const key = { headers: { authorization: 'Bearer bad-key' } };
  const refused = await post('/v1/responses', { model: 'm', input: 'refused key' }, key);
  expect(refused.status).toBe(401);
  const stop = new AbortController();
  const body = { model: 'm', stream: true, messages: asked('@@ say I leave && hang') };
  await post('/v1/chat/completions', body, { signal: stop.signal });
  const [request] = server.log.having('I leave');
  expect(request?.ended).toBe('open');
  stop.abort();
  await eventually(() => request?.ended === 'early');
});

test('it can be started as a program', async () => {
  const program = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = spawn(process.execPath, [program, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill();
  });
  const [line] = await once(child.stdout, 'data');
  const [, url] = /listens on (\S+);/.exec(String(line)) ?? [];
  expect(await (await fetch(`${url}/log`)).json()).toEqual([]);
});
