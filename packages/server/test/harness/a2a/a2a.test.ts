import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readRules } from '../../../src/domain/rules/rule.ts';
import { a2aHarness } from '../../../src/harness/a2a/harness.ts';
import type { Answer } from '../../../src/ports/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, problemsWith, recordingLog } from '../../support/agent-folders.ts';
import { Sitting } from '../sittings.ts';
import { A2aServer, type A2aServerOptions, type Step } from './agent.ts';

describe('a remote agent', () => {
  test('streams its text; its data, files and status become separate events', async () => {
    const { sitting } = await sit();
    const said = await sitting.say(
      steps(
        { status: 'thinking' },
        { say: 'one two' },
        { data: { a: [1] } },
        { file: 'https://x.y/a.txt' },
      ),
    );
    expect(said.events.filter(({ type }) => type === 'message_delta')).toMatchObject([
      { type: 'message_delta', text: 'one ' },
      { type: 'message_delta', text: 'two' },
    ]);
    expect(said.custom('status')).toEqual([{ text: 'thinking' }]);
    expect(said.custom('part')).toEqual([
      { data: { a: [1] } },
      { filename: 'a.txt', url: 'https://x.y/a.txt' },
    ]);
    expect(said.end).toMatchObject({ outcome: 'completed' });
  });

  test('may answer with a message without a task', async () => {
    const { sitting } = await sit();
    const said = await sitting.say(steps({ reply: 'just this' }));
    expect(said.text).toBe('just this');
    expect(said.end).toMatchObject({ outcome: 'completed' });
  });

  test('may ask several times, and nothing is emitted twice when it resumes', async () => {
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
    expect(third.end).toMatchObject({ outcome: 'completed' });
  });

  test('that waits for an answer has its task cancelled when the session gets another prompt', async () => {
    const { sitting, server } = await sit();
    await sitting.say(steps({ ask: 'Which?' }));
    await sitting.say(steps({ say: 'again' }));
    expect(server.calls).toContain('CancelTask');
  });

  test('loses and repeats no text when the connection breaks', async () => {
    const { sitting, server } = await sit();
    const said = await sitting.say(steps({ say: 'one ' }, { drop: true }, { say: 'two' }));
    expect(said.text).toBe('one two');
    expect(said.end).toMatchObject({ outcome: 'completed' });
    expect(server.calls.filter((method) => method === 'SendStreamingMessage')).toHaveLength(1);
    expect(server.calls).toContain('GetTask');
  });

  test('that does not stream is polled until it has answered', async () => {
    const { sitting } = await sit({ isStreaming: false });
    const said = await sitting.say(steps({ say: 'one two' }));
    expect(said.text).toBe('one two');
    expect(said.end).toMatchObject({ outcome: 'completed' });
  });

  test('may implement version 0.3 of the protocol', async () => {
    const { sitting } = await sit({ isLegacy: true });
    const first = await sitting.say(steps({ say: 'one ' }, { ask: 'Which?' }, { sayAnswer: true }));
    expect(first.text).toBe('one ');
    const second = await sitting.hear(sitting.start('', answer(first.asked[0]?.ref, ['blue'])));
    expect(second.text).toBe('You said blue');
    expect(second.end).toMatchObject({ outcome: 'completed' });
  });

  test('gets its token, which no event contains', async () => {
    vi.stubEnv('TEST_A2A_TOKEN', 'open-sesame');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { sitting } = await sit({ token: 'open-sesame' }, { A2A_TOKEN: '${env:TEST_A2A_TOKEN}' });
    const said = await sitting.say(steps({ say: 'the word is open-sesame' }));
    expect(said.end).toMatchObject({ outcome: 'completed' });
    expect(JSON.stringify(said.events)).not.toContain('sesame');
  });

  test.each<[string, Step, string]>([
    ['fails', { end: 'failed', words: 'no luck' }, 'failed: no luck'],
    ['rejects', { end: 'rejected', words: 'not mine' }, 'rejected the task. not mine'],
    ['wants a login', { end: 'auth', words: '' }, 'requires authentication'],
    ['breaks', { crash: 'boom' }, 'failed'],
  ])('that %s ends the run with an error that names the reason', async (...[, step, words]) => {
    const { sitting } = await sit();
    const { end } = await sitting.say(steps(step));
    expect(end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(JSON.stringify(end)).toContain(words);
  });

  test('that is cancelled before the message is sent ends the run as cancelled, without a call', async () => {
    const { sitting, server } = await sit({ onRequest: () => true });
    const leg = sitting.start(steps({ say: 'never' }));
    const heard = sitting.hear(leg);
    await sitting.cancel(leg);
    expect((await heard).end).toEqual({ type: 'end', outcome: 'cancelled' });
    expect(server.calls).toEqual([]);
  });
});

describe('only the registered URL is called (SSRF)', () => {
  test('not another URL in the agent card', async () => {
    const other = await A2aServer.start();
    onTestFinished(() => other.close());
    const { sitting } = await sit({ interfaceUrl: `${other.url}/rpc` });
    const { end } = await sitting.say(steps({ say: 'never' }));
    expect(JSON.stringify(end)).toContain('is not the registered address');
    expect(other.calls).toEqual([]);
  });

  test('not the target of a redirect', async () => {
    const { sitting } = await sit({
      onRequest: (_, response) => {
        response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
        return true;
      },
    });
    expect(JSON.stringify((await sitting.say(steps())).end)).toContain('redirect');
  });

  test('a refused token is an error that names A2A_TOKEN', async () => {
    const { sitting } = await sit({ token: 'other' });
    expect(JSON.stringify((await sitting.say(steps())).end)).toContain('(401): check A2A_TOKEN');
  });

  test('a response that is too large is an error', async () => {
    const { sitting } = await sit({
      onRequest: (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(Buffer.alloc(11 * 1024 * 1024, ' '));
        return true;
      },
    });
    expect((await sitting.say(steps())).end).toMatchObject({ outcome: 'error' });
  });
});

describe('credentials of a client', () => {
  const env = { A2A_CLIENT_ID: 'our id', A2A_CLIENT_SECRET: '${env:TEST_A2A_SECRET}' };
  const basic = `Basic ${Buffer.from('our%20id:open-sesame').toString('base64')}`;

  /** An agent whose token address issues `token-1`, `token-2` and so on; only the newest one is accepted. */
  async function sitWithTokens(lifetime: number) {
    vi.stubEnv('TEST_A2A_SECRET', 'open-sesame');
    onTestFinished(() => void vi.unstubAllEnvs());
    const issued = { count: 0 };
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      const { url, headers } = request;
      if (url === '/token') {
        if (headers.authorization !== basic) return response.writeHead(401).end() !== null;
        issued.count += 1;
        const body = { access_token: `token-${issued.count}`, expires_in: lifetime };
        return response.writeHead(200).end(JSON.stringify(body)) !== null;
      }
      if (url !== '/rpc' || headers.authorization === `Bearer token-${issued.count}`) return false;
      return response.writeHead(401).end() !== null;
    };
    return { ...(await sit({ hasTokens: true, onRequest }, env)), issued };
  }

  test('get a token where the card says, which serves until it expires and which no event contains (D-441)', async () => {
    const { sitting, issued } = await sitWithTokens(600);
    const said = await sitting.say(steps({ say: 'one ' }, { drop: true }, { say: 'token-1' }));
    expect(said.end).toMatchObject({ outcome: 'completed' });
    expect(said.text).toBe('one [secret]');
    expect(issued.count).toBe(1);
  });

  test('get another token before the first one expires', async () => {
    const { sitting, issued, server } = await sitWithTokens(20);
    const said = await sitting.say(steps({ say: 'one ' }, { drop: true }, { say: 'two' }));
    expect([said.text, said.end]).toMatchObject(['one two', { outcome: 'completed' }]);
    expect(issued.count).toBe(server.calls.length);
    expect(issued.count).toBeGreaterThan(1);
  });

  test('that are refused, or for which the card has no address, are errors that say so', async () => {
    const { sitting } = await sitWithTokens(600);
    vi.stubEnv('TEST_A2A_SECRET', 'other-word');
    const { end } = await sitting.say(steps({ say: 'x' }));
    expect(JSON.stringify(end)).toContain('(401): check A2A_CLIENT_SECRET');
    const plain = await sit({}, env);
    expect(JSON.stringify((await plain.sitting.say(steps())).end)).toContain(
      'does not say where client credentials get a token',
    );
  });
});

describe('the registry', () => {
  const harness = a2aHarness({ allow: [], clock: systemClock, log: recordingLog() });
  const problemsOf = (parts: Parameters<typeof agentOf>[0]) =>
    JSON.stringify(problemsWith(harness, agentOf({ framework: 'a2a', ...parts })));

  test('refuses an agent without a URL, with a private one, or with settings that cannot be enforced', () => {
    const url = 'https://agents.example.com/a';
    expect(problemsOf({ settings: { url } })).toBe('[]');
    expect(problemsOf({ settings: {} })).toContain('the address of the agent');
    expect(problemsOf({ settings: { url: 'http://10.0.0.1' } })).toContain('CONVOKE_A2A_ALLOW');
    expect(problemsOf({ settings: { url }, approvalRequiredTools: ['*'] })).toContain(
      'is not supported',
    );
    const rules = readRules([{ name: 'a', tools: ['*'], effect: 'deny' }]);
    expect(problemsOf({ settings: { url }, rules })).toContain('is not supported');
    const withEnv = (...names: string[]) => {
      const env = Object.fromEntries(names.map((name) => [name, '${env:X}']));
      return problemsOf({ settings: { url, env } });
    };
    expect(withEnv('OTHER')).toContain('A2A_TOKEN');
    expect(withEnv('A2A_CLIENT_ID', 'A2A_CLIENT_SECRET')).toBe('[]');
    expect(withEnv('A2A_CLIENT_SECRET')).toContain('has no A2A_CLIENT_ID');
    expect(withEnv('A2A_TOKEN', 'A2A_CLIENT_ID', 'A2A_CLIENT_SECRET')).toContain('has both');
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
