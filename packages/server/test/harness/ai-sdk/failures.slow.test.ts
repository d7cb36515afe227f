import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { problemsWith } from '../../support/agent-folders.ts';
import { AiSdkPlace, type Dialect } from './agent.ts';

const place = await AiSdkPlace.open();
afterAll(() => place.close());
const names: readonly Dialect[] = ['openai-compatible', 'openai', 'anthropic', 'google'];

const error = (code: string, message: RegExp) => ({
  outcome: 'error',
  code,
  message: expect.stringMatching(message),
});

describe.each(names)('with %s', (dialect) => {
  const { url } = place.modelServer;
  const path = dialect === 'google' ? '/v1beta' : '/v1';

  test('a rejected key is reported and not shown', async () => {
    const env = { API_KEY: 'bad-canary-1234567', BASE_URL: url + path };
    const session = await place.session(place.agent({ dialect, settings: { env } }));
    const { end, events } = await session.play('say hello');
    expect(end).toMatchObject(error('model_error', /refused the key of this agent \(401\)/));
    expect(JSON.stringify(events)).not.toContain('canary');
  });

  test('a model that the provider does not have is named', async () => {
    const agent = place.agent({ dialect, model: `${dialect}/refused-model` });
    const { end } = await (await place.session(agent)).play('say hello');
    expect(end).toMatchObject(error('model_error', /has no model refused-model .*\(404\)/));
  });

  test('a connection that breaks during the answer is reported', async () => {
    const session = await place.session(place.agent({ dialect }));
    const { end, text } = await session.play('say half of it && cut');
    expect(text).toContain('half');
    expect(end).toMatchObject(error('model_error', /broke off/));
    // The text until then is remembered.
    expect((await session.play('probe text":"ha+lf && probe content":"ha+lf')).text).toContain(
      'yes',
    );
  });

  test('a model that falls silent fails the run', async () => {
    const session = await place.session(place.agent({ dialect }), { silenceMs: 300 });
    const { end } = await session.play('say hm && hang');
    expect(end).toMatchObject(error('model_error', /said nothing for/));
  });

  test('a transient failure is retried', async () => {
    const session = await place.session(place.agent({ dialect }), { retries: 1 });
    const { end } = await session.play(`fail 503 tried-${dialect}-again`);
    expect(end).toMatchObject(error('model_error', /failed \(503\)/));
    expect(place.modelServer.log.having(`tried-${dialect}-again`)).toHaveLength(2);
  });
});

test('an unreachable address is named', async () => {
  const env = { BASE_URL: 'http://127.0.0.1:9/v1' };
  const session = await place.session(place.agent({ settings: { env } }));
  const { end } = await session.play('say hello');
  expect(end).toMatchObject(error('model_error', /could not be reached at 127\.0\.0\.1:9/));
});

test('the error for a missing key names its variable', async () => {
  const env = { API_KEY: '${env:NO_SUCH_KEY_ANYWHERE}', BASE_URL: place.modelServer.url };
  const session = await place.session(place.agent({ settings: { env } }));
  const { end } = await session.play('say hello');
  expect(end).toMatchObject(error('agent_error', /\$\{env:NO_SUCH_KEY_ANYWHERE\}.*Set it/));
});

test('a key or an address in the server’s own environment is not used', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'servers-own-canary');
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/v1');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const env = { API_KEY: 'agents-own', BASE_URL: `${place.modelServer.url}/v1` };
  const session = await place.session(place.agent({ dialect: 'openai', settings: { env } }));
  expect((await session.play('say whose-key')).text).toBe('whose-key');
  expect(place.modelServer.log.having('whose-key')[0]?.key).toBe('agents-own');
});

test('an invalid agent.yaml is refused with the place of each problem', () => {
  const problems = (parts: Parameters<typeof place.agent>[0]) =>
    problemsWith(place.harness(), place.agent(parts)).map(
      ({ path, message }) => `${path.join('.')} ${message}`,
    );
  expect(problems({})).toEqual([]);
  expect(problems({ model: 'gpt-9' })).toEqual([expect.stringMatching(/^model must be provider/)]);
  expect(problems({ dialect: 'anthropic', settings: { env: {} } })).toEqual([
    'env must contain the key of anthropic: API_KEY: "${env:ANTHROPIC_API_KEY}"',
  ]);
  expect(problems({ settings: { env: {} } })).toEqual([expect.stringContaining('BASE_URL')]);
  expect(
    problems({
      settings: {
        mcp_servers: {
          one: { comand: 'node' },
          two: { url: 'file:///x' },
          three: { url: 'https://x.example', headers: { Authorization: 'Bearer abc' } },
        },
      },
    }),
  ).toEqual([
    expect.stringMatching(/^mcp_servers\.one\.command/),
    'mcp_servers.one.comand is an unknown key; did you mean "command"?',
    'mcp_servers.two.url must be an http or https URL',
    expect.stringMatching(/^mcp_servers\.three\.headers\.Authorization looks like a secret/),
  ]);
});

test('the server starts without loading the AI SDK', async () => {
  const compose = new URL('../../../src/compose/compose.ts', import.meta.url).href;
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(compose)});
    console.log(loaded.filter((url) => /node_modules\\/(ai|@ai-sdk)\\//.test(url)).join());
    process.exit();
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: fileURLToPath(new URL('../../..', import.meta.url)) },
  );
  expect(stdout.trim()).toBe('');
});
