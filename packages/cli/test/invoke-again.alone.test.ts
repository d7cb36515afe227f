import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../server/test/support/eventually.ts';
import { requireSandbox, requireTerminal } from '../../../test/services.ts';
import { writeAgents } from './agent-programs.ts';
import { mainPath, openCommandLine, ownEnvironment } from './command-line.ts';
import { openTerminal } from './terminal-session.ts';

requireSandbox();
requireTerminal();
const { server, convoke } = await openCommandLine((place) => writeAgents(place, 'careful'));

test('an agent is invoked after each change, with the answers given before, until Ctrl-C', {
  timeout: 300_000,
}, async () => {
  const file = join(server.place, 'agents/careful/agent.ts');
  const first = await readFile(file, 'utf8');
  // In one step, as editors do: the server must not read half of it.
  const save = async (text: string) => {
    const draft = join(server.place, 'draft.ts');
    await writeFile(draft, text);
    await rename(draft, file);
  };
  const env = ownEnvironment(convoke.settings);
  const terminal = await openTerminal({ cwd: server.place, env });
  try {
    await terminal.type(`convoke() { "${process.execPath}" "${mainPath}" "$@"; }; clear`);
    await terminal.type('convoke invoke careful "order 7" --watch');
    await terminal.shows(/\/console\/t\/ten_\w+\/runs\/run_\w+\n[\s\S]*\? Why is it refunded\?/);
    await terminal.type('1');
    await terminal.shows(/approve refund[\s\S]*\[y\]es, \[n\]o/);
    await terminal.type('y');
    await terminal.shows(/Refunded, since it was broken\.\n+waiting for a change/);

    const printing = first.replace('  const why', "  console.log('\\u001b[31mhere');\n  const why");
    await save(printing.replace('Refunded', 'Repaid'));
    const again = await terminal.shows(/Repaid, since it was broken\.\n+waiting for a change/);
    expect(again).toContain('as before: Why is it refunded? broken');
    expect(again).toContain('as before: refund: allow');
    // What the program prints, its author sees where the server runs, and nothing of it controls the terminal.
    await eventually(() => server.errors().includes('careful | ⟨U+001B⟩[31mhere'));

    await save('enum Colour { Red }\n');
    await terminal.shows(/"careful" is not loaded: agent\.ts:1: "enum" needs a build step/);

    // A repair that leaves another mistake, which the server answers in the same way.
    await save(first.replace('export default', 'export const other ='));
    await terminal.shows(
      /"careful" is not loaded: agent\.ts must have agent\(…\) as its default export/,
    );

    // A question that the person has not seen is asked, and a further change ends the run that waits for it.
    await save(first.replace('Why is it refunded?', 'Really?'));
    await terminal.shows(/\? Really\?/);
    await save(first.replace('Refunded', 'Settled'));
    await terminal.shows(/^the agent has changed: cancelling this run\ncancelled\n+http/m);
    await terminal.shows(/Settled, since it was broken\.\n+waiting for a change/);

    await terminal.press('C-c');
    await terminal.type('echo "it ended with $?"');
    await terminal.shows(/it ended with 0/);
  } finally {
    await terminal.close();
  }
});
