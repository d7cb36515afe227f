import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { type ReadAgent, readAgentFolder } from '../../../src/agents/agent-folder.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import { type OpenStdio, playProgram } from '../stdio/leg.ts';
import { openCode } from './open-code.ts';

let code: OpenStdio;
/** What programs printed, as `convoke dev` shows it. */
const shown: string[] = [];
beforeAll(async () => {
  requireSandbox();
  code = await openCode((agent, line) => shown.push(`${agent} | ${line}`));
});
afterAll(() => code.close());

/** Reads an agent as the server does, with these files beside its agent.yaml. */
async function read(files: Readonly<Record<string, string>>): Promise<ReadAgent> {
  const folder = join(await temporaryFolder(), 'refunds');
  const all = { 'agent.yaml': 'framework: code\n', ...files };
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 });
    await writeFile(join(folder, path), text);
  }
  await chmod(folder, 0o755);
  const harnesses = new Map([['code', code.harness]]);
  return readAgentFolder({ folder, name: 'refunds', harnesses });
}

async function problemOf(files: Readonly<Record<string, string>>): Promise<string> {
  const result = await read(files);
  return result.ok ? 'none' : result.reason;
}

const agentOf = (body: string) =>
  `import { agent } from '@convoke/agent';\nexport default agent(async (ctx) => {\n${body}\n});\n`;

describe('before a client invokes the agent, its author is told (D-184)', () => {
  test.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['of a missing file', {}, /has no file to run: write agent\.ts or agent\.py/],
    [
      'of an entry that does not exist',
      { 'agent.yaml': 'framework: code\nentry: x.ts\n' },
      /entry/,
    ],
    [
      'of a package that is not installed',
      { 'agent.ts': `import 'ai';\n` },
      /^agent\.ts: package "ai" is not installed\. Run npm install in agents\/refunds\.$/,
    ],
    [
      'of a file that is not there',
      { 'agent.ts': `import './src/clients.ts';\n` },
      /^agent\.ts imports src\/clients\.ts, which does not exist$/,
    ],
    [
      'of syntax that needs a build',
      { 'agent.ts': '\n\nenum Colour { Red }\n' },
      /^agent\.ts:3: "enum" needs a build step, .*\. Use a union, or bundle the agent\.$/,
    ],
    [
      'of decorators',
      { 'agent.ts': 'export {};\nfunction d(_: unknown) {}\n@d\nclass A {}\n' },
      /^agent\.ts:3: decorators need a build step/,
    ],
    ['of other syntax', { 'agent.ts': 'const x = ;\n' }, /^agent\.ts:1: SyntaxError: /],
    [
      'of a missing default export',
      { 'agent.mjs': 'export default () => {};\n' },
      /^agent\.mjs must have agent\(…\) as its default export$/,
    ],
    [
      'of an error where the file is loaded',
      { 'agent.js': 'let a;\nexport default a.b;\n' },
      /^agent\.js:2:\d+: TypeError: /,
    ],
    [
      'of a Node that is too old',
      { 'agent.ts': agentOf(''), 'package.json': '{"engines":{"node":">=99"}}' },
      /^package\.json requires Node >=99, but the server has \d/,
    ],
    [
      'of a kit that is too old',
      { 'agent.ts': agentOf(''), 'package.json': '{"devDependencies":{"@convoke/agent":"^7.1"}}' },
      /^agents\/refunds requires @convoke\/agent \^7\.1, but this server has \d\S*\. Update the server\.$/,
    ],
    [
      'of a program that ends while it is loaded',
      { 'agent.ts': 'process.exit(3);\n' },
      /^The program ended with code 3\./,
    ],
    [
      'of a program that waits for nothing while it is loaded',
      { 'agent.ts': `await new Promise(() => {});\n${agentOf('')}` },
      /^agent\.ts ended while it was being loaded: it exits, or waits for something that never happens$/,
    ],
  ])('%s', async (_what, files, expected) => {
    expect(await problemOf(files)).toMatch(expected);
  });

  test('of nothing, if all is well: the digest is that of its sources', async () => {
    const files = {
      'agent.ts': `import { name } from './src/name.ts';\n${agentOf('return name;')}`,
      'src/name.ts': `export const name = 'one';\n`,
    };
    const [one, same, other, locked] = await Promise.all([
      read(files),
      read(files),
      read({ ...files, 'src/name.ts': `export const name = 'two';\n` }),
      read({ ...files, 'package-lock.json': '{}' }),
    ]);
    const digestOf = (result: ReadAgent) => (result.ok ? result.agent.digest : result.reason);
    expect(digestOf(one)).toBe(digestOf(same));
    expect(new Set([one, other, locked].map(digestOf)).size).toBe(3);
  });
});

describe('a run ends with what its author needs', () => {
  test.each<[string, string, object]>([
    [
      'when the function throws',
      "console.error('on the way');\nconst order: any = undefined;\norder.id;",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^TypeError: .* \(agent\.ts:5:\d+\)\. Its error output:\non the way$/,
        ),
      },
    ],
    [
      'when an await is forgotten',
      "const name = ctx.ask('Name?');\nreturn `Hello ${name}`;",
      { code: 'agent_error', message: 'ctx.ask("Name?") was not awaited (agent.ts:3:18)' },
    ],
    [
      'when a step throws and nothing catches it',
      "await ctx.step('mail', () => { throw new Error('SMTP 550'); });",
      { code: 'tool_error', message: 'step "mail": SMTP 550' },
    ],
    [
      'when a result is not JSON',
      "await ctx.step('find', () => ({ at: new Date() }));",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^step "find": result\.at is a Date, which JSON cannot represent\. Return a string/,
        ),
      },
    ],
    [
      'when an input is not JSON',
      "await ctx.approve('pay', { at: new Date() }, () => 1);",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^input\.at is a Date, which JSON cannot represent\. Use a string/,
        ),
      },
    ],
    [
      'when the data of an event is not JSON',
      "ctx.event('found', { at: new Date() });",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^data\.at is a Date, which JSON cannot represent\. Use a string/,
        ),
      },
    ],
    [
      'when an event has a name that no event can have',
      "ctx.event('Found it');",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^"Found it" is not a valid event name\. .* \(agent\.ts:3:\d+\)\.$/,
        ),
      },
    ],
    [
      'when a result is too large',
      "await ctx.step('find', () => 'x'.repeat(300 * 1024));",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^step "find" returned 30\d KiB; the limit is 256 KiB\. Write a file and return its name/,
        ),
      },
    ],
    [
      'when the results of all its steps are too large',
      "for (let n = 0; n < 140; n += 1) await ctx.step('read', () => 'x'.repeat(250 * 1024));",
      { code: 'agent_error', message: expect.stringContaining('keep large ones in files') },
    ],
    [
      'when two steps of one name run at the same time',
      "await Promise.all([ctx.step('fetch', () => 1), ctx.step('fetch', () => 2)]);",
      { code: 'agent_error', message: expect.stringContaining('Give them different names') },
    ],
    [
      'when it asks inside a step',
      "await ctx.step('a', () => ctx.ask('Why?'));",
      { code: 'tool_error', message: expect.stringContaining('Ask first, then start the step.') },
    ],
    [
      'when the process ends before the function',
      'process.exit();',
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^The process ended before the agent function returned \(agent\.ts:\d+:\d+\)\./,
        ),
      },
    ],
    [
      'when the function waits for nothing',
      'await new Promise(() => {});',
      { code: 'agent_error', message: 'The process ended before the agent function returned.' },
    ],
    [
      'when the function waits for nothing after a step',
      "await ctx.step('read', () => 1);\nawait new Promise(() => {});",
      {
        code: 'agent_error',
        message: expect.stringContaining('The process ended before the agent function returned.'),
      },
    ],
    [
      'when a step waits for nothing beside an open question',
      "await Promise.all([ctx.ask('Why?'), ctx.step('slow', () => new Promise(() => {}))]);",
      {
        code: 'agent_error',
        message: expect.stringContaining('The process ended before the agent function returned.'),
      },
    ],
    [
      'when an error is thrown where nothing can catch it',
      "setTimeout(() => { throw new Error('late'); });\nawait new Promise(() => setInterval(() => {}, 1000));",
      { code: 'agent_error', message: expect.stringMatching(/^Error: late \(agent\.ts:3:\d+\)/) },
    ],
  ])('%s', async (_what, body, expected) => {
    const result = await read({ 'agent.ts': agentOf(body) });
    if (!result.ok) throw new Error(result.reason);
    const { end } = await playProgram(code, result.agent);
    expect(end).toMatchObject({ type: 'end', outcome: 'error', ...expected });
  });

  test.each(['new Date()', "'x'.repeat(300 * 1024)"])(
    'when it cannot keep the result %s, whose call counts as carried out',
    async (value) => {
      const result = await read({ 'agent.ts': agentOf(`await ctx.step('find', () => ${value});`) });
      if (!result.ok) throw new Error(result.reason);
      const { events } = await playProgram(code, result.agent);
      const call = { tool_call_id: 'find', ok: false };
      expect(events).toMatchObject([
        { name: 'tool_call' },
        { name: 'tool_result', data: call },
        { type: 'end' },
      ]);
    },
  );

  test('when a step is in doubt and nothing catches that', async () => {
    const body = "await ctx.step('mail', () => 1);";
    const result = await read({ 'agent.ts': agentOf(body) });
    if (!result.ok) throw new Error(result.reason);
    const mail = { toolName: 'mail', input: {}, state: 'left', note: 'It was sent.' } as const;
    const { end } = await playProgram(code, result.agent, { calls: { mail } });
    expect(end).toMatchObject({ code: 'tool_error', message: 'step "mail": It was sent.' });
  });

  test('and it gets every prompt whole, with line breaks that are none in JSON', async () => {
    const result = await read({ 'agent.ts': agentOf('return ctx.prompt;') });
    if (!result.ok) throw new Error(result.reason);
    const prompt = `a\u2028b\u2029c\u0085d\r\ne${'x'.repeat(300_000)}`;
    const { text, end } = await playProgram(code, result.agent, { prompt });
    expect([end, text === prompt]).toEqual([
      expect.objectContaining({ outcome: 'completed' }),
      true,
    ]);
  });

  test('and what it prints, itself or by a child, is no part of the answer', async () => {
    const body = `console.log('{"type":"end"}');\n(await import('node:child_process')).execSync('echo child', { stdio: 'inherit' });\nreturn 'said';`;
    const result = await read({ 'agent.ts': agentOf(body) });
    if (!result.ok) throw new Error(result.reason);
    const { text, end } = await playProgram(code, result.agent);
    expect([text, end]).toMatchObject(['said', { outcome: 'completed' }]);
    await eventually(() => shown.includes('refunds | {"type":"end"}'));
    await eventually(() => shown.includes('refunds | child'));
  });
});
