import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { Convoke, ConvokeAdmin, type SessionHandle } from '@convoke/sdk';
import { root } from '../../../test/repository.ts';
import { mainPath, manyProcessesMs, openCommandLine, ownEnvironment } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const run = promisify(execFile);

const { server, convoke } = await openCommandLine();

/** Writes an agent and waits until the server has loaded it. */
async function addAgent(name: string, text: string): Promise<void> {
  const folder = join(server.place, 'agents', name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'agent.yaml'), text);
  await expect.poll(async () => (await convoke.run(['agents', 'show', name])).code).toBe(0);
}

test('an owner keeps the rules of tool calls in a file, and sees what a change changes (D-527)', async () => {
  const file = join(convoke.settings, 'rules.yaml');
  const write = (text: string) => writeFile(file, `rules:\n${text}`);
  expect((await convoke.run(['rules'])).stdout).toBe('rules: []\n');
  const ask = '  - { name: refunds, tools: [refund], effect: ask, agents: [nobody] }\n';
  await write(ask);
  const set = await convoke.run(['rules', 'set', file]);
  expect(set).toMatchObject({ code: 0, stdout: 'version 1\n' });
  expect(set.stderr).toContain('+ - name: refunds\n+   tools:\n+     - refund\n+   effect: ask\n');
  expect(set.stderr).toContain('refunds: No agent has the name nobody.');
  const again = await convoke.run(['rules', 'set', file]);
  expect(again.stdout).toBe('version 1, unchanged\n');
  expect(again.stderr).not.toContain('+');
  await write(
    `  - { name: mail, tools: ["mail/*"], effect: deny }\n${ask.replace('refund]', 'pay]')}`,
  );
  const more = await convoke.json('rules', 'set', file, '--yes');
  expect(more).toMatchObject({ version: 2, rules: [{ name: 'mail' }, { tools: ['pay'] }] });
  await writeFile(file, (await convoke.run(['rules'])).stdout);
  expect((await convoke.run(['rules', 'set', file])).stdout).toBe('version 2, unchanged\n');
  await write('');
  const none = await convoke.run(['rules', 'set', file]);
  expect(none).toMatchObject({ code: 2, stdout: '' });
  expect(none.stderr).toContain('must have the key "rules" with a list');
  await write('  - { name: a, tools: [b], effect: maybe }\n');
  expect((await convoke.run(['rules', 'set', file])).stderr).toContain('rules[0].effect: ');
  await write('  [\n');
  expect((await convoke.run(['rules', 'set', file])).code).toBe(2);
  expect(await convoke.json('rules')).toMatchObject({ version: 2 });
  await write('  - null\n');
  expect((await convoke.run(['rules', 'set', file])).stderr).toContain('rules[0]: ');
  await writeFile(file, '{"rules": [], "rulez": []}');
  const misspelled = await convoke.run(['rules', 'set', file]);
  expect(misspelled).toMatchObject({ code: 2, stderr: expect.stringContaining('rulez') });
  await write(`${ask.replace('refund]', 'pay, send]')}`);
  // The server has the keys in another order.
  const changed = await convoke.run(['rules', 'set', file]);
  const shown = [
    '  - name: refunds',
    '    tools:',
    '      - pay',
    '+     - send',
    '    effect: ask',
  ];
  expect(changed.stderr).toContain(`${shown.join('\n')}\n`);
  expect(changed.stderr).toMatch(/^- - name: mail$/m);
  await writeFile(file, (await convoke.run(['rules', '--json'])).stdout);
  expect((await convoke.run(['rules', 'set', file])).stdout).toBe('version 3, unchanged\n');
  await writeFile(file, '{"rules": []}');
  expect((await convoke.run(['rules', 'set', file])).stderr).toMatch(/^- - name: refunds$/m);
});

test('a draft is tried over past calls, and nothing is written (D-526)', async () => {
  const script = '[{ tool: { name: write_file, input: { path: a.txt, text: DE02 } } }]';
  await addAgent('writer', `framework: scripted\nscript: ${script}\n`);
  const invoked = await convoke.run(['invoke', 'writer', 'hi']);
  expect(invoked.code).toBe(0);
  const file = join(convoke.settings, 'draft.yaml');
  const rule = (name: string, tool: string) =>
    `  - { name: ${name}, tools: [${tool}], effect: deny }\n`;
  await writeFile(file, `rules:\n${rule('no-files', 'write_file')}${rule('no-mail', '"mail/*"')}`);
  const before = await convoke.json('rules');
  const tried = await convoke.run(['rules', 'try', file, '--since', '7d']);
  expect(tried).toMatchObject({ code: 0 });
  expect(tried.stdout).toMatch(/^run_\w+ +writer +write_file +allow → deny +no-files +/m);
  expect(tried.stdout).toContain('1 past call, of which 1 is decided differently');
  expect(tried.stderr).toBe('no-mail: no past call meets it\n');
  const json = await convoke.json('rules', 'try', file);
  expect(json).toMatchObject({ calls: 1, changed: 1, changes: [{ after: 'deny' }] });
  expect(JSON.stringify(json) + tried.stdout).not.toContain('DE02');
  expect(await convoke.json('rules')).toEqual(before);
  const none = await convoke.run(['rules', 'try', file, '--tenant', 'ten_none']);
  expect(none).toMatchObject({ code: 1, stdout: '' });
  expect(none.stderr).toContain('the organization has no tenant ten_none');
});

const keeper = `framework: scripted
rules: [{ name: files, tools: [write_file], effect: ask, remember: exact }]
script: [{ tool: { name: write_file, input: { path: a.txt, text: x } } }, { say: Kept }]
`;

test('an allow is remembered for its session, until it is forgotten (D-521)', async () => {
  await addAgent('keeper', keeper);
  const asked = await convoke.run(['invoke', 'keeper', 'go']);
  expect(asked.code).toBe(7);
  const [, session = '', key = ''] =
    /interactions answer (sess_\S+) (\S+)/.exec(asked.stderr) ?? [];
  const allow = ['interactions', 'answer', session, key, '--allow', '--remember', 'exact'];
  expect(await convoke.json(...allow)).toMatchObject({ remembered: 'exact' });
  const invoke = ['invoke', 'keeper', 'go', '--session', session];
  expect(await convoke.run(invoke)).toMatchObject({ code: 0, stdout: 'Kept\n' });
  expect((await convoke.run(['interactions', 'forget', session, key])).code).toBe(0);
  expect((await convoke.run(invoke)).code).toBe(7);
});

test('what the guide of rules says of memories in a program works', async () => {
  await addAgent('keeper', keeper);
  const guide = await readFile(join(root, 'docs/guides/rules.md'), 'utf8');
  const code = guide.split('```js\n')[2]?.split('```')[0] ?? '';
  const asked = await convoke.run(['invoke', 'keeper', 'go']);
  const [, id = '', key = ''] = /interactions answer (sess_\S+) (\S+)/.exec(asked.stderr) ?? [];
  const { base_url = '', client_id = '', client_secret = '' } = server.quickstart;
  const api = new Convoke({ baseUrl: base_url, clientId: client_id, clientSecret: client_secret });
  type Kept = ReturnType<SessionHandle['interactions']['list']>;
  type Main = (session: SessionHandle, key: string, see: (kept: Kept) => object) => Promise<Kept>;
  // Before its last line the list is read, and once more after it.
  const seen = code.replace(/^(?=await .*forget)/m, 'await see(kept);\n');
  const text = `export async function main(session, key, see) {\n${seen}\nreturn kept;\n}`;
  const { main } = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
    main: Main;
  };
  const found: object[] = [];
  const kept = await main(api.sessions.at(id), key, async (list) => {
    found.push(...(await list.page()).items);
  });
  expect(found).toMatchObject([{ interaction_key: key, remembered: 'exact' }]);
  expect((await kept.page()).items).toEqual([]);
});

test('what the guide of rules says to write and to type works', async () => {
  const guide = await readFile(join(root, 'docs/guides/rules.md'), 'utf8');
  const blocks = (kind: string) =>
    Array.from(
      guide.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\``, 'gm')),
      ([, text]) => text,
    );
  const block = (kind: string) => blocks(kind)[0] ?? '';

  const agent = join(server.place, 'agents/refunds');
  await mkdir(agent, { recursive: true });
  const framework = 'framework: scripted\nscript: [{ say: Hello }]\n';
  expect(blocks('yaml')).toHaveLength(2);
  for (const rules of blocks('yaml')) {
    await writeFile(join(agent, 'agent.yaml'), `${rules}${framework}`);
    const checked = await convoke.run(['agents', 'check', 'refunds']);
    expect(checked).toMatchObject({ code: 0, stdout: 'ok    refunds  scripted\n' });
  }

  expect(blocks('sh run')).toHaveLength(2);
  const npx = `npx() { shift; '${process.execPath}' '${mainPath}' "$@"; }\n`;
  const shell = async (text = '') => {
    const where = { cwd: server.place, env: ownEnvironment(convoke.settings) };
    return (await run('bash', ['-euo', 'pipefail', '-c', npx + text], where)).stdout;
  };
  const [writing, trying] = blocks('sh run');
  const stdout = await shell(writing);
  const tried = await shell(trying);
  const text = await readFile(join(server.place, 'rules.yaml'), 'utf8');
  const [version = '', ...rules] = stdout.split('\n');
  expect(version).toMatch(/^version \d+$/);
  expect(parse(rules.join('\n'))).toEqual(parse(text));
  expect(tried).toContain(', of which 0 are decided differently\n{');

  const { base_url = '', owner_token = '', organization_id = '' } = server.quickstart;
  const admin = new ConvokeAdmin({
    baseUrl: base_url,
    token: owner_token,
    organizationId: organization_id,
  });
  const program = `data:text/javascript,${encodeURIComponent(`export async function main(admin) {\n${block('js')}}`)}`;
  const { main } = (await import(program)) as { main: (admin: ConvokeAdmin) => Promise<void> };
  await main(admin);
  const names = (await admin.rules.get()).rules.map(({ name }) => name);
  expect(names).toEqual(['no-mail', 'big-refunds', 'no-deletes']);
});
