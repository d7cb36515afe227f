// Agents of other protocols and of Claude use the accounts of their end users, also after these have changed (D-597).
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { requireSandbox } from '../../../../test/services.ts';
import { claudeHarness } from '../../src/harness/claude/harness.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { A2aServer } from '../harness/a2a/agent.ts';
import type { Step } from '../harness/acp/agent.ts';
import { noSandbox } from '../harness/claude/no-sandbox.ts';
import { workingSdk } from '../harness/claude/working-sdk.ts';
import { ended, logOf, startRun, textOf } from '../support/api-steps.ts';
import { quietLog } from '../support/quiet-log.ts';
import { type TestServer, startServer } from '../support/server.ts';

const program = fileURLToPath(new URL('../harness/acp/agent.ts', import.meta.url));
const sdk = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk'));
const connections = { github: { owner: 'end_user' } };
const tokenOf = (user: string, version = 1) => `planted-token-of-${user}-${version}`;
const reversed = (text: string) => Array.from(text).toReversed().join('');

let server: TestServer;
/** What Claude's SDK was called with. */
const queries: Readonly<Record<string, unknown>>[] = [];
/** The Authorization of each request to the remote agent. */
const sentTo: (string | undefined)[] = [];
beforeAll(async () => {
  requireSandbox();
  const remote = await A2aServer.start({
    onRequest: ({ headers }) => {
      sentTo.push(headers.authorization);
      return false;
    },
  });
  atFileEnd(() => remote.close());
  const claude = claudeHarness({
    sandbox: noSandbox,
    clock: systemClock,
    log: quietLog,
    load: async () => ({
      query(call) {
        queries.push(call.options);
        return workingSdk.query(call);
      },
    }),
  });
  server = await startServer({
    harnesses: [claude],
    agents: {
      acp: {
        framework: 'acp',
        command: ['node', '--no-warnings', program, sdk],
        connections,
        env: { TOKEN: '${connection:github}' },
      },
      remote: {
        framework: 'a2a',
        url: remote.url,
        connections,
        env: { A2A_TOKEN: '${connection:github}' },
      },
      claude: {
        framework: 'claude',
        connections: { ...connections, anthropic: { owner: 'tenant' } },
        env: { ANTHROPIC_API_KEY: '${connection:anthropic}', TOKEN: '${connection:github}' },
        mcp_servers: { github: { url: 'https://mcp.test/', connection: 'github' } },
      },
    },
    env: { CONVOKE_A2A_ALLOW: new URL(remote.url).host },
  });
});

async function connect(end_user: string, version = 1): Promise<void> {
  const auth = { type: 'bearer', token: tokenOf(end_user, version) };
  await server.send('put_connection', {
    params: { service: 'github' },
    body: { end_user, auth },
  });
}

async function openFor(agent_name: string, end_user: string) {
  return (await server.send('create_session', { body: { agent_name, end_user } })).body;
}

const steps = (...all: Step[]) => JSON.stringify(all);

test('a kept process of ACP is replaced once the account of its end user has changed, and another user has a process of their own', async () => {
  await connect('u-1');
  await connect('u-2');
  const [one, two] = await Promise.all([openFor('acp', 'u-1'), openFor('acp', 'u-2')]);
  const report = async (session: typeof one) => {
    const script = steps({ report: 'born' }, { say: ' ' }, { report: 'reversed token' });
    const run = await startRun(server, session, script);
    expect((await ended(server, run)).status).toBe('completed');
    const [born = '', token = ''] = textOf(await logOf(server, run)).split(' ');
    return { born, token: reversed(token) };
  };
  const [first, other] = await Promise.all([report(one), report(two)]);
  expect([first.token, other.token]).toEqual([tokenOf('u-1'), tokenOf('u-2')]);
  expect(await report(one)).toEqual(first);
  await connect('u-1', 2);
  const replaced = await report(one);
  expect(replaced.token).toBe(tokenOf('u-1', 2));
  expect(replaced.born).not.toBe(first.born);
  expect(await report(two)).toEqual(other);
});

test('a remote agent gets the account of the end user of its session', async () => {
  for (const [user, version] of [
    ['u-3', 1],
    ['u-4', 1],
    ['u-3', 2],
  ] as const) {
    await connect(user, version);
    sentTo.length = 0;
    const session = await openFor('remote', user);
    const run = await startRun(server, session, JSON.stringify([{ say: tokenOf(user, version) }]));
    expect(await ended(server, run)).toMatchObject({
      status: 'completed',
      output_text: '[secret]',
    });
    expect(new Set(sentTo)).toEqual(new Set([`Bearer ${tokenOf(user, version)}`]));
  }
});

test('Claude gets it as a variable, its commands do not, and no command line has it', async () => {
  const key = 'planted-key-of-the-tenant';
  const auth = { type: 'bearer', token: key };
  await server.send('put_connection', { params: { service: 'anthropic' }, body: { auth } });
  for (const [user, version] of [
    ['u-5', 1],
    ['u-6', 1],
    ['u-5', 2],
  ] as const) {
    await connect(user, version);
    const token = tokenOf(user, version);
    const run = await startRun(server, await openFor('claude', user), 'hello');
    expect((await ended(server, run)).status).toBe('completed');
    const { env, ...options } = queries.at(-1) ?? {};
    const variables = env as Readonly<Record<string, string>>;
    expect([variables['TOKEN'], variables['ANTHROPIC_API_KEY']]).toEqual([token, key]);
    const { mcpServers } = options as {
      readonly mcpServers: Readonly<Record<string, { readonly headers: Record<string, string> }>>;
    };
    const header = mcpServers['github']?.headers['Authorization'] ?? '';
    const [, name = ''] = /^\$\{(\w+)\}$/.exec(header) ?? [];
    expect(variables[name]).toBe(`Bearer ${token}`);
    expect(JSON.stringify(mcpServers)).not.toContain(token);
    const unset = await readFile(variables['CLAUDE_ENV_FILE'] ?? '', 'utf8');
    expect(unset).toContain('TOKEN');
    expect(unset).toContain(name);
    expect(unset).not.toContain(token);
  }
});
