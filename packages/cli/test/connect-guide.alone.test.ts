// "Connect by a link" and "Ask the user, and continue" of docs/guides/connections.md, with a real authorization server.
import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root, textOf } from '../../../test/repository.ts';
import { requireTerminal } from '../../../test/services.ts';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import { AccountService, signInAt } from '../../server/test/support/account-service.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { bearer, startServer } from '../../server/test/support/server.ts';
import { mainPath, manyProcessesMs, ownEnvironment } from './command-line.ts';
import { openTerminal } from './terminal-session.ts';

vi.setConfig({ testTimeout: manyProcessesMs, hookTimeout: manyProcessesMs });

const guide = textOf('docs/guides/connections.md');
const block = (head: string) =>
  new RegExp(`^\`\`\`${head}\\n(.*?)^\`\`\``, 'ms').exec(guide)?.[1] ?? '';

test('the agent and the pages of the guide connect an account', async () => {
  const service = await AccountService.start();
  const { authorization_endpoint, token_endpoint, client_id, client_secret } = service.declared();
  const linked = block('yaml linked')
    .replace('Iv1.8a61', client_id)
    .replace('${env:GITHUB_CLIENT_SECRET}', client_secret)
    .replace('https://github.com/login/oauth/authorize', authorization_endpoint)
    .replace('https://github.com/login/oauth/access_token', token_endpoint)
    .replace('scope: repo', 'scope: openid offline_access');
  const server = await startServer({
    agents: { desk: `${linked}framework: scripted\nscript: [{ say: hi }]\n` },
    env: {
      CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32',
      CONVOKE_CORS_ORIGINS: 'https://app.example.com',
      CONVOKE_CONNECT_URL: /`CONVOKE_CONNECT_URL=([^`]+)`/.exec(guide)?.[1] ?? '',
    },
  });
  await service.register(server.baseUrl);
  const { body: session } = await server.send('create_session', {
    body: { agent_name: 'desk', end_user: 'u-17' },
  });
  const params = { session_id: session.id };
  const scopes = ['connections:read', 'connections:write'];
  const made = await server.send('create_session_token', { params, body: { scopes } });

  const folder = await openProgramFolder(root);
  atFileEnd(async () => folder[Symbol.asyncDispose]());
  const page = async (program: string, search = '') => {
    const opened = { baseUrl: server.baseUrl, sessionId: session.id, token: made.body.token };
    const file = join(folder.path, 'page.mjs');
    const browser = `const location = { search: ${JSON.stringify(search)}, assign: (url) => console.log(url) };`;
    const own = `const own = openSession(${JSON.stringify(opened)});`;
    const sdk = "import { openSession } from '@convoke/sdk';";
    await writeFile(file, [sdk, browser, own, program].join('\n'));
    return (await promisify(execFile)(process.execPath, [file], { cwd: folder.path })).stdout;
  };
  const as = bearer(made.body.token);
  const status = async () => {
    const { body } = await server.send('list_session_connections', { as, params });
    return body.connections[0]?.status;
  };
  const returned = async (form: Readonly<Record<string, string>>) => {
    const connectUrl = (await page(block('js begin'))).trim();
    const back = await fetch(await signInAt(service, connectUrl, form), { redirect: 'manual' });
    return new URL(back.headers.get('location') ?? '');
  };

  // The run asks, with the link to the page, and waits while connecting fails.
  const start = { params, body: { input: { prompt: 'hello' } } };
  const { body: run } = await server.send('start_run', start);
  const pending = async () =>
    (await server.send('list_interactions', { params, query: { status: 'pending' } })).body
      .interactions;
  const [asked] = await eventually(async () => {
    const all = await pending();
    return all.length > 0 && all;
  });
  const url = `https://app.example.com/connect?session=${session.id}&service=github`;
  expect(asked).toMatchObject({
    question: `Connect github to continue: ${url}`,
    about: { kind: 'connection_missing', service: 'github', url },
  });
  // In the inbox of a terminal, too.
  requireTerminal();
  await mkdir(join(folder.path, '.convoke'));
  const known = 'quickstart.json';
  await cp(join(server.config.dataDir, known), join(folder.path, '.convoke', known));
  const env = ownEnvironment(join(folder.path, 'settings'));
  const terminal = await openTerminal({ cwd: folder.path, env, columns: 200 });
  atFileEnd(() => terminal.close());
  await terminal.type(`"${process.execPath}" "${mainPath}" inbox`);
  const shown = await terminal.shows(/Connect github to continue: \S+\n[^\n]*It is connected/);
  expect(shown).toContain(url);
  expect(shown).not.toContain('undefined');
  await terminal.close();

  const refused = await returned({ refuse: 'yes' });
  expect(await page(block('js finish'), refused.search)).toBe('access_denied\n');
  expect(await status()).toBe('missing');
  expect(await pending()).toHaveLength(1);
  const allowed = await returned({ name: 'ann' });
  expect(`${allowed.origin}${allowed.pathname}`).toBe('https://app.example.com/connected');
  expect(await page(block('js finish'), allowed.search)).toBe('');
  expect(await status()).toBe('connected');
  const at = { session_id: session.id, run_id: run.id };
  const ended = await eventually(async () => {
    const { body } = await server.send('get_run', { params: at });
    return body.status === 'completed' && body;
  });
  expect(ended.output_text).toBe('hi');
});
