import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { type ReadAgent, readAgentFolder } from '../../../src/agents/agent-folder.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import { type OpenStdio, type PlayMore, playProgram } from '../stdio/leg.ts';
import { openCode } from './open-code.ts';

let code: OpenStdio;
/** What programs printed, as `convoke dev` shows it. */
const shown: string[] = [];
beforeAll(async () => {
  requireSandbox();
  code = await openCode((agent, line) => shown.push(`${agent} | ${line}`));
});
afterAll(() => code.close());

/** Reads an agent as the server does, with these files beside its agent.yaml. Programs are executable. */
async function read(files: Readonly<Record<string, string>>): Promise<ReadAgent> {
  const folder = join(await temporaryFolder(), 'refunds');
  for (const [path, text] of Object.entries({ 'agent.yaml': 'framework: code\n', ...files })) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 });
    await writeFile(join(folder, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  await chmod(folder, 0o755);
  const harnesses = new Map([['code', code.harness]]);
  return readAgentFolder({ folder, name: 'refunds', harnesses });
}

async function played(files: Readonly<Record<string, string>>, more: PlayMore = {}) {
  const result = await read(files);
  if (!result.ok) throw new Error(result.reason);
  return playProgram(code, result.agent, more);
}

const agentOf = (body: string, kind = 'def') =>
  `from convoke_agent import agent\n\n@agent\n${kind} main(ctx):\n${body.replaceAll(/^/gm, '    ')}\n`;

/** A module that no machine has installed, unlike those that real agents import. */
const absent = 'absent_on_every_machine';

/** A python3 that takes itself for an older one. */
const oldPython = `#!/bin/sh
while [ "\${1%.py}" = "$1" ]; do shift; done
exec /usr/bin/python3 -c 'import runpy, sys; sys.version_info = (3, 8, 10); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
`;

describe('before a client invokes the agent, its author is told (D-184)', () => {
  test.each<[string, Readonly<Record<string, string>>, RegExp]>([
    [
      'of a sandbox without Python',
      { 'agent.yaml': 'framework: code\nenv: { PATH: /nowhere }\n', 'agent.py': agentOf('pass') },
      /^The sandbox has no python3\.$/,
    ],
    [
      'of a Python that is too old',
      { 'agent.py': agentOf('pass'), '.venv/bin/python3': oldPython },
      /^The sandbox has Python 3\.8\.10, but the kit needs 3\.9 or newer\.$/,
    ],
    [
      'of a module that is missing, by its name',
      { 'agent.py': `\nimport ${absent}.auth\n` },
      new RegExp(
        `^agent\\.py:2: module "${absent}" was not found\\. Install its package into agents/refunds/\\.venv`,
      ),
    ],
    [
      'of a module that a file beside it misses',
      { 'agent.py': 'import clients\n', 'clients.py': `\n\nimport ${absent}\n` },
      new RegExp(`^clients\\.py:3: module "${absent}" was not found`),
    ],
    ['of wrong syntax', { 'agent.py': 'x = 1\nx = = 2\n' }, /^agent\.py:2: SyntaxError: /],
    [
      'of wrong syntax in a file beside it',
      { 'agent.py': 'import clients\n', 'clients.py': 'def f(:\n' },
      /^clients\.py:1: SyntaxError: /,
    ],
    ['of wrong indentation', { 'agent.py': 'if 1:\nx = 2\n' }, /^agent\.py:2: IndentationError: /],
    [
      'of a missing agent',
      { 'agent.py': 'def main(ctx): pass\n' },
      /^agent\.py has no function with @agent$/,
    ],
    [
      'of two agents',
      { 'agent.py': `${agentOf('pass')}\n${agentOf('pass').replace('main', 'other')}` },
      /^agent\.py has several functions with @agent \(main, other\)\. Keep one\.$/,
    ],
    [
      'of a generator',
      { 'agent.py': agentOf("yield 'text'") },
      /^agent\.py:3: Misuse: A function with @agent must not yield/,
    ],
    [
      'of an error where the file is loaded',
      { 'agent.py': 'a = None\na.b\n' },
      /^agent\.py:2: AttributeError: /,
    ],
    [
      'of a program that ends while it is loaded',
      { 'agent.py': 'import sys\nsys.exit(3)\n' },
      /^agent\.py:2: SystemExit: 3$/,
    ],
  ])('%s', async (_what, files, expected) => {
    const result = await read(files);
    expect(result.ok ? 'none' : result.reason).toMatch(expected);
  });

  test('of nothing, if all is well: the digest is that of its modules', async () => {
    const files = {
      'agent.py': `from clients import name\nfrom src.more import other\n${agentOf('return name')}`,
      'clients.py': `name = 'one'\n`,
      'src/more.py': `other = 'one'\n`,
    };
    const all = await Promise.all([
      read(files),
      read(files),
      read({ ...files, 'clients.py': `name = 'two'\n` }),
      read({ ...files, 'src/more.py': `other = 'two'\n` }),
    ]);
    const digests = all.map((result) => (result.ok ? result.agent.digest : result.reason));
    expect(digests[0]).toBe(digests[1]);
    expect(new Set(digests).size).toBe(3);
  });
});

describe('a run ends with what its author needs', () => {
  test('when an await is forgotten', async () => {
    const body = 'name = ctx.ask("Name?")\nreturn f"Hello {name}"';
    const { end } = await played({ 'agent.py': agentOf(body, 'async def') });
    const message = 'ctx.ask("Name?") was not awaited (agent.py:5)';
    expect(end).toMatchObject({ code: 'agent_error', message });
  });

  test.each<[string, string, object]>([
    [
      'when the function raises',
      "print('on the way')\norder = None\norder['id']",
      {
        code: 'agent_error',
        message: expect.stringMatching(/^TypeError: .* \(agent\.py:7\)[^]*on the way/),
      },
    ],
    [
      'when a step raises and nothing catches it',
      "def mail():\n    raise RuntimeError('SMTP 550')\nctx.step('mail', mail)",
      { code: 'tool_error', message: 'step "mail": SMTP 550' },
    ],
    [
      'when a result is not JSON',
      "import datetime\nctx.step('find', lambda: {'at': [datetime.date.today()]})",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^step "find": result\.at\[0\] is a date, which JSON cannot represent\. Return a string/,
        ),
      },
    ],
    [
      'when an input is not JSON',
      "ctx.approve('pay', {'at': (1, 2)}, lambda: 1)",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^input\.at is a tuple, which JSON cannot represent\. Use a list/,
        ),
      },
    ],
    [
      'when an event has a name that no event can have',
      "ctx.event('Found it')",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^"Found it" is not a valid event name\. .* \(agent\.py:5\)\.$/,
        ),
      },
    ],
    [
      'when a result is too large',
      "ctx.step('find', lambda: 'x' * 300 * 1024)",
      {
        code: 'agent_error',
        message: expect.stringMatching(
          /^step "find" returned 30\d KiB; the limit is 256 KiB\. Write a file and return its name/,
        ),
      },
    ],
    [
      'when two steps of one name run at the same time',
      "ctx.parallel(lambda: ctx.step('fetch', lambda: 1), lambda: ctx.step('fetch', lambda: 2))",
      { code: 'agent_error', message: expect.stringContaining('Give them different names') },
    ],
    [
      'when it asks inside a step',
      "ctx.step('a', lambda: ctx.ask('Why?'))",
      { code: 'tool_error', message: expect.stringContaining('Ask first, then start the step.') },
    ],
    [
      'when it uses ctx in a thread of its own',
      "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(ctx.step, 'a', lambda: 1).result()",
      { code: 'agent_error', message: expect.stringContaining('Run branches with ctx.parallel()') },
    ],
    [
      'when the process ends before the function',
      'import sys\nsys.exit()',
      {
        code: 'agent_error',
        message: expect.stringContaining('The process ended before the agent function returned.'),
      },
    ],
    [
      'when the process ends at once, with code 0',
      'import os\nos._exit(0)',
      {
        code: 'agent_error',
        message: expect.stringContaining('The process ended before the agent function returned.'),
      },
    ],
    [
      'when the function returns what JSON cannot represent (D-568)',
      'return {"found": [1, (2, 3)]}',
      { code: 'agent_error', message: expect.stringContaining('result.found[1] is a tuple') },
    ],
  ])('%s', async (_what, body, expected) => {
    const { end } = await played({ 'agent.py': agentOf(body) });
    expect(end).toMatchObject({ type: 'end', outcome: 'error', ...expected });
  });

  test.each([
    ['at once', ''],
    ['after a step', "await ctx.step('read', lambda: 1)\n"],
    ['after work in a thread', 'await asyncio.to_thread(lambda: 1)\n'],
  ])('when the function waits for nothing, %s', async (_what, before) => {
    const body = `import asyncio\n${before}await asyncio.Event().wait()`;
    const { end } = await played({ 'agent.py': agentOf(body, 'async def') });
    expect(end).toMatchObject({
      outcome: 'error',
      code: 'agent_error',
      message: 'The process ended before the agent function returned.',
    });
  });

  test.each([
    ['without Python', { env: { PATH: '/nowhere' } }, 'The sandbox has no python3.'],
    ['with an old one', {}, 'The sandbox has Python 3.8.10, but the kit needs 3.9 or newer.'],
  ])('when the sandbox is %s by now', async (_what, settings, message) => {
    const files = { 'agent.py': agentOf('pass') };
    const result = await read(files);
    if (!result.ok) throw new Error(result.reason);
    const { agent } = result;
    await mkdir(join(agent.folder, '.venv/bin'), { recursive: true });
    if (message.includes('3.8'))
      await writeFile(join(agent.folder, '.venv/bin/python3'), oldPython, { mode: 0o755 });
    const { end } = await playProgram(code, {
      ...agent,
      settings: { ...(agent.settings as object), ...settings },
    });
    expect(end).toMatchObject({ outcome: 'error', code: 'agent_error', message });
  });

  test('when a step is in doubt and nothing catches that', async () => {
    const mail = { toolName: 'mail', input: {}, state: 'left', note: 'It was sent.' } as const;
    const files = { 'agent.py': agentOf("ctx.step('mail', lambda: 1)") };
    const { end } = await played(files, { calls: { mail } });
    expect(end).toMatchObject({ code: 'tool_error', message: 'step "mail": It was sent.' });
  });

  test('and it gets every prompt whole, with line breaks that are none in JSON', async () => {
    const prompt = `a\u2028b\u2029c\u0085d\r\ne${'x'.repeat(300_000)}`;
    const { text, end } = await played({ 'agent.py': agentOf('return ctx.prompt') }, { prompt });
    expect([end, text === prompt]).toEqual([
      expect.objectContaining({ outcome: 'completed' }),
      true,
    ]);
  });

  test('and what it prints, itself or by a child, is no part of the answer; a child reads nothing', async () => {
    const body = `import subprocess\nprint('{"type":"end"}')\nsubprocess.run(['sh', '-c', 'echo child; cat'])\nreturn 'said'`;
    const { text, end } = await played({ 'agent.py': agentOf(body) });
    expect([text, end]).toMatchObject(['said', { outcome: 'completed' }]);
    await eventually(() => shown.includes('refunds | {"type":"end"}'));
    await eventually(() => shown.includes('refunds | child'));
  });

  test('and its own copy of the kit is not used, whatever .venv and folder have', async () => {
    const { text } = await played({
      'agent.py': agentOf('import sys\nreturn sys.executable'),
      'convoke_agent/__init__.py': 'raise Exception("another kit")\n',
      '.venv/pyvenv.cfg': 'home = /usr/bin\n',
      '.venv/bin/python3': '#!/bin/sh\nexec /usr/bin/python3 "$@"\n',
    });
    expect(text).toMatch(/python3/);
  });
});
