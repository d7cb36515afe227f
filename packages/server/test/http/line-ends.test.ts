import { beforeAll, describe, expect, test } from 'vitest';
import { renderNotices } from '../../src/http/streams/feed-frames.ts';
import { Frames } from '../../src/http/streams/frames.ts';
import { usualAgents } from '../support/agents.ts';
import { ended, openSession, startRun } from '../support/api-steps.ts';
import { type TestServer, startServer } from '../support/server.ts';

const said = 'one\u0085two\u2028three\u2029four\u2028 äöü € 😀 \\u2028';

const words = ['one\u0085two\u2028', 'three\u2029', 'four\u2028', '\\\\u2028'];

/** As `str.splitlines()` of Python does, and the readers that use it. */
const splitLines = (text: string) =>
  text.split(/\r\n|[\n\r\v\f\u001c\u001d\u001e\u0085\u2028\u2029]/u);

/** The JSON of the frames that such a reader finds. */
function dataIn(text: string): readonly unknown[] {
  return splitLines(text).flatMap((line) => {
    expect(line).toMatch(/^(data: |id: |event: |retry: |: |$)/);
    const isJson = line.startsWith('data: ') && line !== 'data: [DONE]';
    return isJson ? [JSON.parse(line.slice('data: '.length)) as unknown] : [];
  });
}

describe('the streams of a run that said every line end of Unicode (D-466)', () => {
  let server: TestServer;
  let session: string;
  let run: string;
  beforeAll(async () => {
    server = await startServer({ agents: usualAgents });
    const opened = await openSession(server, 'echo');
    const started = await startRun(server, opened, said);
    await ended(server, started);
    session = `/v1/sessions/${opened.id}`;
    run = `${session}/runs/${started.id}`;
  });

  const agUi = { threadId: 't', runId: 'r', state: {}, messages: [], tools: [], context: [] };
  const events = { accept: 'text/event-stream' };

  test.each([
    ['events', () => server.call('GET', `${run}/events`, { headers: events })],
    ['the chat of the AI SDK', () => server.call('GET', `${session}/ai-sdk/c/stream`)],
    ['AG-UI', () => server.call('POST', `${session}/ag-ui`, { body: agUi })],
  ] as const)('%s are read line by line, with the same text', async (_, open) => {
    const { status, text } = await open();
    expect(status).toBe(200);
    const texts = dataIn(text).map((value) => JSON.stringify(value));
    // The agent says each word alone.
    for (const word of words) expect(texts.some((each) => each.includes(word))).toBe(true);
  });

  test('the stored log has them as they are', async () => {
    const { text } = await server.call('GET', `${run}/events`, {
      headers: { accept: 'application/json' },
    });
    for (const word of words) expect(text).toContain(word);
  });
});

test('notices of the feed are escaped, too, and a text without line ends is sent as it is (D-466)', () => {
  const body = JSON.stringify({ said });
  const notices = [{ seq: 1, type: 'run_completed' as const, body }];
  const frames = renderNotices({ notices, lastSeq: 1 }, { types: undefined, names: 'on' });
  expect(dataIn(frames.toString())).toEqual([{ said }]);
  expect(new Frames('data: "äöü € 😀"\n\n').toString()).toBe('data: "äöü € 😀"\n\n');
});
