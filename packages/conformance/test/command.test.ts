import { mkdtemp, readFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import { agentRoles, usualName, writeAgents } from '../src/agents.ts';
import { convokeDialect, readDialect } from '../src/dialect.ts';
import { readExpectedFailures } from '../src/expected-failures.ts';
import { help } from '../src/help.ts';
import { UsageError, readTask } from '../src/options.ts';
import { runKit } from './kit-process.ts';

const folder = await mkdtemp(join(tmpdir(), 'convoke-conformance-'));
atFileEnd(() => removeFolder(folder));

const client = ['--client-id', 'someone', '--client-secret', 'very-secret-word'];
const usual = ['--base-url', 'http://127.0.0.1:1', ...client];

test('a wrong use exits with 2 and says what is wrong', () => {
  const wrong = [
    [[], /--base-url is missing/],
    [['--base-url', 'nowhere'], /--base-url is no URL/],
    [['--base-url', 'http://a'], /--client-id and --client-secret/],
    [['--no-such-option'], /--no-such-option/],
    [[...usual, '--agents', 'dance=x'], /--agents takes echo=…/],
    [[...usual, '--level', 'high'], /--level is/],
    [[...usual, '--time-limit', 'soon'], /--time-limit/],
    [[...usual, '--dialect', join(folder, 'absent')], /absent/],
  ] as const;
  for (const [args, message] of wrong) {
    expect(() => readTask(args, {})).toThrow(UsageError);
    expect(() => readTask(args, {})).toThrow(message);
  }
});

test('without a service the kit exits with 2, and shows no secret', async () => {
  const { status, stdout, stderr } = await runKit(usual);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^conformance: POST \/v1\/oauth\/token: no response/);
  expect(stderr).not.toContain('very-secret-word');
});

test('options come from the environment, too, and words of the command line win', () => {
  const env = {
    CONVOKE_BASE_URL: 'http://a',
    CONVOKE_CLIENT_ID: 'one',
    CONVOKE_CLIENT_SECRET: 'two',
    CONVOKE_OWNER_TOKEN: 'three',
  };
  expect(readTask(['--base-url', 'http://b', '--agents', 'echo=parrot'], env)).toMatchObject({
    kind: 'run',
    options: {
      baseUrl: 'http://b',
      credentials: { clientId: 'one', clientSecret: 'two' },
      ownerToken: 'three',
      level: 'specification',
      agentNames: { echo: 'parrot', ask: 'conformance-ask' },
    },
  });
});

test('a dialect replaces parts, bodies as a whole, and no part that there is not', () => {
  const text = JSON.stringify({ name: 'other', interaction: { allow: { ok: true } } });
  const { interaction, ...rest } = readDialect(text);
  expect(interaction).toEqual({ ...convokeDialect.interaction, allow: { ok: true } });
  expect(rest.token).toEqual(convokeDialect.token);
  expect(() => readDialect('{"run": {"colour": "red"}}')).toThrow('dialect.run.colour is unknown');
  expect(() => readDialect('{"run": {"list": 7}}')).toThrow('dialect.run.list must be');
  expect(readDialect(JSON.stringify(convokeDialect))).toEqual(convokeDialect);
});

test('expected failures name requirements that exist, once, with a reason', () => {
  const known = ['6-r1', '6-r2'];
  const text = '# comment\n\n6-r2  keeps no history\n';
  expect([...readExpectedFailures(text, known)]).toEqual([['6-r2', 'keeps no history']]);
  expect(() => readExpectedFailures('6-r9 x', known)).toThrow('line 1 of the expected failures');
  expect(() => readExpectedFailures('6-r1 x\n6-r1 x', known)).toThrow('repeats 6-r1');
  expect(() => readExpectedFailures('6-r1', known)).toThrow('gives no reason');
});

test('agents are written as folders', async () => {
  const agents = join(folder, 'agents');
  await writeAgents(agents);
  expect((await readdir(agents)).toSorted()).toEqual(agentRoles.map(usualName).toSorted());
  const echo = await readFile(join(agents, 'conformance-echo/agent.yaml'), 'utf8');
  expect(JSON.parse(echo)).toMatchObject({ schema: 1, framework: 'scripted' });
});

test('help names every option and every agent', () => {
  const words = ['--owner-token', '--restart', '--expected-failures', '--write-agents', '--list'];
  for (const word of [...words, ...agentRoles.map(usualName)]) expect(help).toContain(word);
  expect(readTask(['--help'], {})).toEqual({ kind: 'help' });
  expect(readTask(['--list'], {})).toEqual({ kind: 'list' });
});
