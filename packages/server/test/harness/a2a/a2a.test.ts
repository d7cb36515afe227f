import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Sitting } from '../sittings.ts';
import { agentOf, problemsWith, recordingLog } from '../../support/agent-folders.ts';
import { readAllowList, reachProblem, urlProblem } from '../../../src/egress/allow-list.ts';
import { guardedFetch } from '../../../src/egress/guarded-fetch.ts';
import { a2aHarness } from '../../../src/harness/a2a/harness.ts';
import type { Answer } from '../../../src/ports/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { A2aServer, type A2aServerOptions, type Step } from './agent.ts';

describe('a remote agent', () => {
  test('is heard word by word; its data, files and progress come as events of their own', async () => {
    const { sitting } = await sit();
    const said = await sitting.say(
      steps(
        { status: 'thinking' },
        { say: 'one two' },
        { data: { a: [1] } },
        { file: 'https://x.y/a.txt' },
      ),
    );
    expect(said.events.filter(({ type }) => type === 'message_delta')).toEqual([
      { type: 'message_delta', text: 'one ' },
      { type: 'message_delta', text: 'two' },
    ]);
    expect(said.custom('status')).toEqual([{ text: 'thinking' }]);
    expect(said.custom('part')).toEqual([
      { data: { a: [1] } },
      { filename: 'a.txt', url: 'https://x.y/a.txt' },
    ]);
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('may answer with a plain message', async () => {
    const { sitting } = await sit();
    const said = await sitting.say(steps({ reply: 'just this' }));
    expect(said.text).toBe('just this');
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('asks as often as it likes, and nothing is told twice when it goes on', async () => {
    const { sitting } = await sit();
    const script = steps({ say: 'Hm. ' }, { ask: 'Which?' }, { sayAnswer: true }, { ask: 'Sure?' });
    const first = await sitting.say(script);
    expect(first.asked).toMatchObject([{ question: 'Which?' }]);
    expect(first.end).toEqual({ type: 'end', outcome: 'waiting' });
    const second = await sitting.hear(sitting.start('', answer(first.asked[0]?.ref, ['blue'])));
    expect(second.text).toBe('You said blue');
    expect(second.asked).toMatchObject([{ question: 'Sure?' }]);
    expect(second.asked[0]?.ref).not.toBe(first.asked[0]?.ref);
    const third = await sitting.hear(sitting.start('', answer(second.asked[0]?.ref, ['yes'])));
    expect(third.text).toBe('');
    expect(third.end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('that asked gives up its task when the session goes on with something else', async () => {
    const { sitting, server } = await sit();
    await sitting.say(steps({ ask: 'Which?' }));
    await sitting.say(steps({ say: 'anew' }));
    expect(server.calls).toContain('CancelTask');
  });

  test('goes on being heard when the connection breaks, without a word lost or doubled', async () => {
    const { sitting, server } = await sit();
    const said = await sitting.say(steps({ say: 'one ' }, { drop: true }, { say: 'two' }));
    expect(said.text).toBe('one two');
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
    expect(server.calls.filter((method) => method === 'SendStreamingMessage')).toHaveLength(1);
    expect(server.calls).toContain('GetTask');
  });

  test('that does not stream is asked until it has answered', async () => {
    const { sitting } = await sit({ isStreaming: false });
    const said = await sitting.say(steps({ say: 'one two' }));
    expect(said.text).toBe('one two');
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('is understood where it speaks the version before the first stable one', async () => {
    const { sitting } = await sit({ isLegacy: true });
    const first = await sitting.say(steps({ say: 'one ' }, { ask: 'Which?' }, { sayAnswer: true }));
    expect(first.text).toBe('one ');
    const second = await sitting.hear(sitting.start('', answer(first.asked[0]?.ref, ['blue'])));
    expect(second.text).toBe('You said blue');
    expect(second.end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('gets its token, which nobody sees', async () => {
    process.env['TEST_A2A_TOKEN'] = 'open-sesame';
    const { sitting } = await sit({ token: 'open-sesame' }, { A2A_TOKEN: '${env:TEST_A2A_TOKEN}' });
    const said = await sitting.say(steps({ say: 'the word is open-sesame' }));
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
    expect(JSON.stringify(said.events)).not.toContain('sesame');
  });

  test.each<[string, Step, string]>([
    ['fails', { end: 'failed', words: 'no luck' }, 'failed: no luck'],
    ['rejects', { end: 'rejected', words: 'not mine' }, 'rejected the task. not mine'],
    ['wants a login', { end: 'auth', words: '' }, 'wants authentication'],
    ['breaks', { crash: 'boom' }, 'failed'],
  ])('that %s is an error that says so', async (...[, step, words]) => {
    const { sitting } = await sit();
    const { end } = await sitting.say(steps(step));
    expect(end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(JSON.stringify(end)).toContain(words);
  });

  test('ends cancelled at once when it is cancelled before it was spoken to', async () => {
    const { sitting, server } = await sit({ onRequest: () => true });
    const leg = sitting.start(steps({ say: 'never' }));
    const heard = sitting.hear(leg);
    await sitting.cancel(leg);
    expect((await heard).end).toEqual({ type: 'end', outcome: 'cancelled' });
    expect(server.calls).toEqual([]);
  });
});

describe('only what an administrator registered is called (SSRF)', () => {
  test('not another address that the agent calls its own', async () => {
    const other = await A2aServer.start();
    onTestFinished(() => other.close());
    const { sitting } = await sit({ interfaceUrl: `${other.url}/rpc` });
    const { end } = await sitting.say(steps({ say: 'never' }));
    expect(JSON.stringify(end)).toContain('is not the registered address');
    expect(other.calls).toEqual([]);
  });

  test('not where a redirect leads', async () => {
    const { sitting } = await sit({
      onRequest: (_, response) => {
        response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
        return true;
      },
    });
    expect(JSON.stringify((await sitting.say(steps())).end)).toContain('redirect');
  });

  test('not with a token that is refused', async () => {
    const { sitting } = await sit({ token: 'other' });
    expect(JSON.stringify((await sitting.say(steps())).end)).toContain('(401): check A2A_TOKEN');
  });

  test('not when more comes than an answer may hold', async () => {
    const { sitting } = await sit({
      onRequest: (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(Buffer.alloc(11 * 1024 * 1024, ' '));
        return true;
      },
    });
    expect((await sitting.say(steps())).end).toMatchObject({ outcome: 'error' });
  });

  test('not by a name that means another address when it is connected to', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const registered = new URL(`http://agent.test:${port}/`);
    let looked = 0;
    const fetchIt = (allow: readonly string[], found: readonly string[]) =>
      guardedFetch({
        registered,
        allow: readAllowList(allow),
        clock: systemClock,
        headers: {},
        signal: new AbortController().signal,
        resolve: async () => {
          looked += 1;
          return found.map((each) => ({ address: each, family: 4 }));
        },
      })(registered);
    const answered = await fetchIt(['127.0.0.0/8'], ['127.0.0.1']);
    expect(await answered.text()).toBe('reached');
    // Looked up once, and what was checked is what was connected to: no resolver knows this name.
    expect(looked).toBe(1);
    await expect(fetchIt([`agent.test:${port}`], ['127.0.0.1'])).rejects.toThrow('not open');
    await expect(fetchIt(['127.0.0.0/8'], ['127.0.0.1', '10.0.0.1'])).rejects.toThrow('not open');
    await expect(fetchIt(['127.0.0.0/8'], [])).rejects.toThrow('has no address');
  });

  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://169.254.169.254/',
    'https://10.1.2.3/',
    'https://100.64.0.1/',
    'https://192.168.1.1/',
    'https://0.0.0.0/',
    'https://[fd00::1]/',
    'https://user:word@agents.example.com/',
    'http://agents.example.com/',
    'http://93.184.216.34/',
  ])('not %s', (text) => {
    expect(urlProblem(new URL(text), readAllowList([]))).toBeDefined();
  });

  test('but a public address, by https', () => {
    const none = readAllowList([]);
    expect(urlProblem(new URL('https://agents.example.com/'), none)).toBeUndefined();
    expect(urlProblem(new URL('https://93.184.216.34/'), none)).toBeUndefined();
  });

  test.each<[string, string, readonly string[], boolean]>([
    ['10.1.0.0/16', 'http://agent.corp:8080/', ['10.1.2.3'], true],
    ['10.1.0.0/16', 'http://agent.corp:8080/', ['10.1.2.3', '10.2.0.1'], false],
    ['agent.corp:8080', 'http://agent.corp:8080/', ['10.2.0.1'], true],
    ['agent.corp:8080', 'http://agent.corp:8081/', ['10.2.0.1'], false],
    ['agent.corp', 'https://agent.corp/', ['10.2.0.1'], true],
    ['agent.corp', 'https://agent.corp/', ['169.254.169.254'], false],
    ['*.agents.corp', 'https://agents.corp/', ['10.2.0.1'], false],
    ['*.agents.corp', 'https://a.agents.corp/', ['10.2.0.1'], true],
    ['fd00::/8', 'http://agent.corp/', ['fd00::1'], true],
    ['localhost:9000', 'http://localhost:9000/', ['127.0.0.1', '::1'], true],
  ])('with %s listed, %s at %j: %s', (...[listed, url, addresses, isOpen]) => {
    const problem = reachProblem(new URL(url), addresses, readAllowList([listed]));
    expect(problem === undefined).toBe(isOpen);
  });

  test.each(['10.0.0.0/33', '10.0.0/8', 'a b', '*.com:99999', 'fd00::/129'])(
    'and a list that says %s is refused at the start',
    (entry) => {
      expect(() => readAllowList([entry])).toThrow(`CONVOKE_A2A_ALLOW: "${entry}"`);
    },
  );
});

describe('the registry', () => {
  const harness = a2aHarness({ allow: [], clock: systemClock, log: recordingLog() });
  const problemsOf = (parts: Parameters<typeof agentOf>[0]) =>
    JSON.stringify(problemsWith(harness, agentOf({ framework: 'a2a', ...parts })));

  test('refuses an agent without an address, with a private one, or with promises that cannot be kept', () => {
    const url = 'https://agents.example.com/a';
    expect(problemsOf({ settings: { url } })).toBe('[]');
    expect(problemsOf({ settings: {} })).toContain('where the agent is');
    expect(problemsOf({ settings: { url: 'http://10.0.0.1' } })).toContain('CONVOKE_A2A_ALLOW');
    expect(problemsOf({ settings: { url }, approvalRequiredTools: ['*'] })).toContain(
      'cannot be kept',
    );
    expect(problemsOf({ settings: { url, env: { OTHER: 'x' } } })).toContain('A2A_TOKEN');
  });
});

let sittings = 0;

async function sit(options: A2aServerOptions = {}, env: Record<string, string> = {}) {
  const server = await A2aServer.start(options);
  onTestFinished(() => server.close());
  const harness = a2aHarness({
    allow: [new URL(server.url).host],
    clock: systemClock,
    log: recordingLog(),
  });
  sittings += 1;
  const agent = agentOf({ framework: 'a2a', settings: { url: server.url, env } });
  const places = { sessionFolder: '/nonexistent', stateDir: '/nonexistent' };
  return { server, sitting: new Sitting(harness, { name: String(sittings), agent, ...places }) };
}

function steps(...list: readonly Step[]): string {
  return JSON.stringify(list);
}

function answer(ref: string | undefined, values: readonly string[]): ReadonlyMap<string, Answer> {
  return new Map([[ref ?? '', { kind: 'question', values }]]);
}
