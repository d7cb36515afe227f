import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../src/program.ts';

const everyCommand = withAllBelow(await createProgram());

describe('--help', () => {
  test.each(everyCommand.map((command) => [pathOf(command), command] as const))(
    '%s has a description and an example',
    (path, command) => {
      let text = '';
      command.configureOutput({ writeOut: (more) => (text += more) });
      command.outputHelp();
      expect(command.description()).not.toBe('');
      expect(text).toMatch(/\nExample:\n {2}(\w+=\w+ )?(npx convoke|source) /);
      expect(text).toContain('--json');
      if (path === 'convoke') expect(text).toContain('Exit codes:');
      // The first commands of a newcomer are not broken in the middle of a word.
      if (/^convoke (agents|invoke)/.test(path)) {
        expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
      }
    },
  );
});

test('every command is listed', async () => {
  const names = (await createProgram()).commands.map((command) => command.name());
  expect(names.toSorted()).toEqual([
    'acp',
    'admin',
    'agents',
    'audit',
    'backup',
    'budgets',
    'chat',
    'clients',
    'completion',
    'connections',
    'console',
    'credentials',
    'dev',
    'doctor',
    'events',
    'export',
    'feedback',
    'files',
    'import',
    'inbox',
    'interactions',
    'invoke',
    'login',
    'logins',
    'logout',
    'mcp',
    'members',
    'migrate',
    'rules',
    'runs',
    'schedules',
    'serve',
    'sessions',
    'tenants',
    'usage',
    'watch',
    'webhooks',
    'whoami',
    'workspaces',
  ]);
});

describe('a misspelt command', () => {
  const groups = everyCommand.filter(({ commands }) => commands.length > 0);

  test.each(groups.map(pathOf))('of `%s` is not taken as an argument', async (path) => {
    const [, ...words] = path.split(' ');
    const program = await createProgram();
    for (const command of withAllBelow(program)) command.configureOutput({ writeErr: () => {} });
    const typed = program.parseAsync([...words, 'xyzzy', 'sess_1', '--json'], { from: 'user' });
    await expect(typed).rejects.toThrow("unknown command 'xyzzy'");
  });

  test('is answered with a suggestion', async () => {
    const program = await createProgram();
    let said = '';
    for (const command of withAllBelow(program)) {
      command.configureOutput({ writeErr: (text) => (said += text) });
    }
    await expect(program.parseAsync(['sessions', 'lst'], { from: 'user' })).rejects.toThrow('lst');
    expect(said).toBe(
      "convoke: unknown command 'lst' (Did you mean list?); see `convoke sessions --help`\n",
    );
  });
});

function withAllBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withAllBelow)];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
