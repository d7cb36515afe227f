import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import type { ReadAgent } from '../../../src/agents/agent-folder.ts';
import { eventually } from '../../support/eventually.ts';
import { type Authored, agentOf, asyncio, openAuthored, python, typescript } from './authored.ts';
import { loadProblems, oldPython } from './load-problems.ts';
import { runProblems } from './run-problems.ts';

let author: Authored;
beforeAll(async () => {
  requireSandbox();
  author = await openAuthored();
});
afterAll(() => author.close());

const languages = { typescript, python, asyncio };
type Name = keyof typeof languages;
/** Each language with its own words for one program. */
const both = (programs: Readonly<Record<'typescript' | 'python', string>>) =>
  (['typescript', 'python'] as const).map((name) => [name, programs[name]] as const);

describe('before a client invokes the agent, its author is told (D-184)', () => {
  test.each(loadProblems.map((each) => [each.of, each] as const))(
    'of %s',
    async (_of, { files, message }) => {
      const result = await author.read(files);
      expect(result.ok ? 'none' : result.reason).toMatch(message);
    },
  );

  test.each([
    [
      'TypeScript',
      {
        'agent.ts': `import { name } from './src/name.ts';\n${typescript.sourceOf('return name;')}`,
        'src/name.ts': `export const name = 'one';\n`,
      },
      [{ 'src/name.ts': `export const name = 'two';\n` }, { 'package-lock.json': '{}' }],
    ],
    [
      'Python',
      {
        'agent.py': `from clients import name\nfrom src.more import other\n${python.sourceOf('return name')}`,
        'clients.py': `name = 'one'\n`,
        'src/more.py': `other = 'one'\n`,
      },
      [{ 'clients.py': `name = 'two'\n` }, { 'src/more.py': `other = 'two'\n` }],
    ],
  ])(
    'of nothing, if all is well: the digest is that of its sources, %s',
    async (_what, files, edits) => {
      const all = [files, files, ...edits.map((edit) => ({ ...files, ...edit }))];
      const [one, same, ...others] = (await Promise.all(all.map((each) => author.read(each)))).map(
        digestOf,
      );
      expect(one).toBe(same);
      expect(new Set([one, ...others]).size).toBe(3);
    },
  );
});

const runs = runProblems.flatMap((problem) =>
  (Object.keys(languages) as Name[]).flatMap((name) => {
    const body = problem[name];
    return body === undefined ? [] : [[problem.when, name, { ...problem, body }] as const];
  }),
);

describe('a run ends with what its author needs', () => {
  test.each(runs)('when %s, %s', async (_when, name, { body, code, message }) => {
    const { end } = await author.play(languages[name], body);
    expect(end).toMatchObject({
      type: 'end',
      outcome: 'error',
      code,
      message: expect.stringMatching(message),
    });
  });

  test.each(['new Date()', "'x'.repeat(300 * 1024)"])(
    'when it cannot keep the result %s, whose call counts as carried out',
    async (value) => {
      const { events } = await author.play(typescript, `await ctx.step('find', () => ${value});`);
      expect(events).toMatchObject([
        { name: 'tool_call' },
        { name: 'tool_result', data: { tool_call_id: 'find', ok: false } },
        { type: 'end' },
      ]);
    },
  );

  test.each([
    ['without Python', { env: { PATH: '/nowhere' } }, 'The sandbox has no python3.'],
    ['with an old one', {}, 'The sandbox has Python 3.8.10, but the kit needs 3.9 or newer.'],
  ])('when the sandbox is %s by now', async (_what, settings, message) => {
    const result = await author.read(agentOf(python, 'pass'));
    if (!result.ok) throw new Error(result.reason);
    const { agent } = result;
    await mkdir(join(agent.folder, '.venv/bin'), { recursive: true });
    if (message.includes('3.8'))
      await writeFile(join(agent.folder, '.venv/bin/python3'), oldPython, { mode: 0o755 });
    const changed = { ...agent, settings: { ...(agent.settings as object), ...settings } };
    const { end } = await author.playAgent(changed);
    expect(end).toMatchObject({ outcome: 'error', code: 'agent_error', message });
  });

  test.each(
    both({ typescript: "await ctx.step('mail', () => 1);", python: "ctx.step('mail', lambda: 1)" }),
  )('when a step is in doubt and nothing catches that, %s', async (name, body) => {
    const mail = { toolName: 'mail', input: {}, state: 'left', note: 'It was sent.' } as const;
    const { end } = await author.play(languages[name], body, { calls: { mail } });
    expect(end).toMatchObject({ code: 'tool_error', message: 'step "mail": It was sent.' });
  });
});

describe('an agent as code', () => {
  test.each(both({ typescript: 'return ctx.prompt;', python: 'return ctx.prompt' }))(
    'gets every prompt whole, with line breaks that are none in JSON, %s',
    async (name, body) => {
      const prompt = `a\u2028b\u2029c\u0085d\r\ne${'x'.repeat(300_000)}`;
      const { text, end } = await author.play(languages[name], body, { prompt });
      expect(end).toMatchObject({ outcome: 'completed' });
      expect(text === prompt).toBe(true);
    },
  );

  // `cat` ends at once because a child reads nothing.
  test.each(
    both({
      typescript: `console.log('{"type":"end"}');\n(await import('node:child_process')).execSync('echo typescript', { stdio: 'inherit' });\nreturn 'said';`,
      python: `import subprocess\nprint('{"type":"end"}')\nsubprocess.run(['sh', '-c', 'echo python; cat'])\nreturn 'said'`,
    }),
  )('answers without what it prints, itself or by a child, %s', async (name, body) => {
    const before = author.shown.length;
    const { text, end } = await author.play(languages[name], body);
    expect([text, end]).toMatchObject(['said', { outcome: 'completed' }]);
    const shown = () => author.shown.slice(before);
    await eventually(() => shown().includes('refunds | {"type":"end"}'));
    await eventually(() => shown().includes(`refunds | ${name}`));
  });

  test('does not use its own copy of the kit, whatever .venv and folder have', async () => {
    const { text } = await author.play(python, 'import sys\nreturn sys.executable', {
      files: {
        'convoke_agent/__init__.py': 'raise Exception("another kit")\n',
        '.venv/pyvenv.cfg': 'home = /usr/bin\n',
        '.venv/bin/python3': '#!/bin/sh\nexec /usr/bin/python3 "$@"\n',
      },
    });
    expect(text).toMatch(/python3/);
  });
});

function digestOf(result: ReadAgent): string {
  return result.ok ? result.agent.digest : result.reason;
}
