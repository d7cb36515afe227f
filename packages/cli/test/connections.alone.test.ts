// The command, and docs/guides/connections.md as a reader follows it.
import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root, textOf } from '../../../test/repository.ts';
import { mainPath, manyProcessesMs, openCommandLine, ownEnvironment } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs, hookTimeout: manyProcessesMs });

const guide = textOf('docs/guides/connections.md');
const block = (head: string) =>
  new RegExp(`^\`\`\`${head}\\n(.*?)^\`\`\``, 'ms').exec(guide)?.[1] ?? '';

/** Two agents: that of the guide, and one with its other definition. */
const { server, convoke: commandLine } = await openCommandLine(async (place) => {
  const folder = (name: string) => join(place, 'agents', name);
  for (const name of ['desk', 'coder']) await mkdir(folder(name), { recursive: true });
  for (const file of ['agent.yaml', 'agent.sh']) {
    const text = block(`\\w+ agents/desk/${file.replace('.', '\\.')}`);
    await writeFile(join(folder('desk'), file), text);
  }
  const model =
    'framework: ai-sdk\nmodel: openai-compatible/test\nenv: { BASE_URL: "http://m.test" }\n';
  await writeFile(join(folder('coder'), 'agent.yaml'), block('yaml') + model);
});
let folder: Awaited<ReturnType<typeof openProgramFolder>>;
beforeAll(async () => {
  folder = await openProgramFolder(root);
  const known = '.convoke/quickstart.json';
  await cp(join(server.place, known), join(folder.path, known));
});
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

test('accounts are set from standard input, listed without secrets and revoked (D-590)', async () => {
  const set = (args: readonly string[], input: string) =>
    commandLine.run(['connections', 'set', ...args], { input });
  expect(await set(['crm'], 'a-planted-secret\n')).toMatchObject({
    code: 0,
    stdout: 'crm  (tenant)  connected\n',
  });
  const oauth = JSON.stringify({ access_token: 'a-planted-secret' });
  expect((await set(['github', '--end-user', 'u-17', '--oauth'], oauth)).code).toBe(0);
  const over = { access_token: 'a-planted-secret', expires_at: '2020-01-15T09:30:00.000Z' };
  expect((await set(['wiki', '--end-user', 'u-18', '--oauth'], JSON.stringify(over))).code).toBe(0);
  expect((await set(['mail', '--header', 'X-Api-Key'], 'a-planted-secret')).code).toBe(0);
  for (const input of ['', '{']) {
    expect((await set(['github', '--oauth'], input)).code).not.toBe(0);
  }
  const { stdout } = await commandLine.run(['connections']);
  expect(stdout).toMatch(
    /^mail .*\nwiki +u-18 +expired, no_refresh +oauth .*\ngithub +u-17 +connected +oauth .*\ncrm +\(tenant\) +connected +bearer/m,
  );
  expect(stdout).not.toContain('planted');
  const gone = await commandLine.run(['connections', 'delete', 'github', '--end-user', 'u-17']);
  expect(gone).toMatchObject({ code: 0, stdout: 'github  u-17  deleted\n' });
  const [again, typo] = [
    await commandLine.run(['connections', 'delete', 'github', '--end-user', 'u-17']),
    await commandLine.run(['connections', 'delete', 'crn']),
  ];
  expect([again.code, typo.code]).toEqual([1, 1]);
  expect(again.stderr).toContain('the end user u-17 has no account for github; connected: nothing');
  expect(typo.stderr).toContain('the tenant has no account for crn; connected: mail, crm');
  const { connections } = await commandLine.json<{ connections: { service: string }[] }>(
    'connections',
    'list',
  );
  expect(connections.map(({ service }) => service)).toEqual(['mail', 'wiki', 'crm']);
});

test('the agents, commands and program of the guide work one after the other', async () => {
  const run = promisify(execFile);
  for (const name of ['desk', 'coder']) {
    const checked = await commandLine.run(['agents', 'check', name]);
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining(`ok    ${name} `) });
  }
  const secrets = {
    'crm-token.txt': 'a-planted-token\n',
    'mail-key.txt': 'a-planted-key\n',
    // An address, because tests look up no names.
    'github.json': block('json github\\.json').replace('//github.com/', '//1.1.1.1/'),
  };
  for (const [name, text] of Object.entries(secrets)) {
    await writeFile(join(server.place, name), text);
  }
  const npx = `npx() { shift; '${process.execPath}' '${mainPath}' "$@"; }\n`;
  const where = { cwd: server.place, env: ownEnvironment(commandLine.settings) };
  const typed = await run('bash', ['-euo', 'pipefail', '-c', npx + block('sh run')], where);
  expect(typed.stdout).toMatch(
    /^github +u-17 +connected +oauth .*\nmail +u-17 +connected +header/m,
  );
  expect(typed.stdout).toMatch(/^github {2}u-17 {2}deleted$/m);

  const file = join(folder.path, 'connections.mjs');
  const opened = "\nconsole.log('--');\nconsole.log(session.id);\n";
  await writeFile(file, block('js run') + opened + block('js page'));
  const whole = await run(process.execPath, [file], { cwd: folder.path });
  const [stdout = '', ofSession = ''] = whole.stdout.split('--\n');
  const [answer, after] = stdout.split('connection_missing\n');
  expect(answer).toBe('CRM: [secret]\nMail: [secret]\n\n');
  expect(after?.split('\n')).toEqual(
    expect.arrayContaining(['mail u-17 connected', 'crm the tenant connected']),
  );
  const [sessionId = '', ...accounts] = ofSession.trimEnd().split('\n');
  expect(accounts.toSorted()).toEqual(['crm connected', 'mail connected']);
  const listed = await commandLine.run(['connections', 'list', '--session', sessionId]);
  expect(listed.stdout).toMatch(/^mail +end user +connected/m);
  expect(typed.stdout + whole.stdout).not.toMatch(/planted|the-/);
});
