// What `convoke completion` prints, in the shells it is for, as far as this machine has them; bash is everywhere.
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../src/program.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

let convoke: CommandLine;
const printed = new Map<Shell, string>();
beforeAll(async () => {
  convoke = await createCommandLine(tmpdir());
  for (const shell of shells) {
    printed.set(shell, (await convoke.run(['completion', shell])).stdout);
  }
}, manyProcessesMs);
afterAll(() => convoke.remove());

const fromCompWords = (words: readonly string[]) =>
  `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
   _convoke; echo "\${COMPREPLY[@]}"`;

/** How a shell is started without its user's settings, and asked for what may follow. */
const asking: Record<Shell, { args: readonly string[]; ask: (line: string) => string }> = {
  bash: { args: ['--norc', '-c'], ask: (line) => fromCompWords(line.split(' ')) },
  // As bashcompinit calls it: arrays from 0, words split.
  zsh: {
    args: ['-f', '-c'],
    ask: (line) => `emulate sh; setopt ksharrays\n${fromCompWords(line.split(' '))}`,
  },
  fish: { args: ['--no-config', '-c'], ask: (line) => `complete -C '${line}'` },
};
const present = shells.filter((shell) => spawnSync(shell, ['--version']).status === 0);

function complete(shell: Shell, line: string): string[] {
  const { args, ask } = asking[shell];
  const script = `${printed.get(shell)}\n${ask(line)}`;
  const env = { PATH: process.env['PATH'], HOME: convoke.settings };
  const { stdout, stderr } = spawnSync(shell, [...args, script], { encoding: 'utf8', env });
  expect(stderr).toBe('');
  const words = stdout.split(/\s+/).filter((word) => word !== '');
  // Of what it is given, zsh itself leaves out what does not begin as typed.
  const begun = line.split(' ').at(-1) ?? '';
  return shell === 'zsh' ? words.filter((word) => word.startsWith(begun)) : words;
}

describe.each(present)('%s completes', (shell) => {
  test.each([
    ['commands', 'convoke inv', 'invoke'],
    ['commands below them', 'convoke sessions st', 'stop'],
    ['options', 'convoke --json sessions stop --term', '--terminate'],
    ['options behind arguments', 'convoke sessions stop sess_1 --rea', '--reason'],
  ])('%s', (_, line, expected) => {
    expect(complete(shell, line)).toEqual([expected]);
  });

  test('nothing that belongs to another command', () => {
    expect(complete(shell, 'convoke clients list --stat')).toEqual([]);
    expect(complete(shell, 'convoke sessions list --stat')).toEqual(['--status']);
  });
});

test.each(shells)('the script for %s names every command and executes nothing', async (shell) => {
  const text = printed.get(shell) ?? '';
  const { commands } = await createProgram();
  for (const command of commands) expect(text).toContain(command.name());
  expect(text.split("'").length % 2).toBe(1);
  expect(text).not.toContain('`');
});
