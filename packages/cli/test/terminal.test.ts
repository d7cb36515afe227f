// A person's session at a terminal, recorded: what the screen shows is what is checked.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../../test/dev-server.ts';
import { requireTerminal } from '../../../test/services.ts';
import {
  type CommandLine,
  createCommandLine,
  mainPath,
  manyProcessesMs,
  ownEnvironment,
} from './command-line.ts';
import { type TerminalSession, openTerminal } from './terminal-session.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const waits = `schema: 1
name: waits
description: Says nothing for a while
framework: scripted
script:
  - sleep_ms: 4000
  - say: Here I am
`;

let server: DevServer;
let convoke: CommandLine;
let terminal: TerminalSession;
beforeAll(async () => {
  requireTerminal();
  server = await startDevServer(async (place) => {
    await mkdir(join(place, 'agents/waits'));
    await writeFile(join(place, 'agents/waits/agent.yaml'), waits);
  });
  convoke = await createCommandLine(server.place);
});
afterAll(async () => {
  await convoke.remove();
  await server.stop();
});

async function open(more: { env?: Record<string, string>; columns?: number } = {}) {
  const { env = {}, ...rest } = more;
  const variables = { ...ownEnvironment(convoke.settings), ...env };
  terminal = await openTerminal({ cwd: server.place, env: variables, ...rest });
  await terminal.type(`convoke() { "${process.execPath}" "${mainPath}" "$@"; }; clear`);
}
afterEach(() => terminal.close());

describe('a person at a terminal', () => {
  beforeEach(() => open());

  test('invokes an agent, answers its question by number and approves its tool', async () => {
    await terminal.type('convoke invoke demo "Good morning"');
    const asked = await terminal.shows(/\? What should I call you\?\n.*1\. Captain\n.*2\. Friend/);
    expect(asked).toContain('Hello! You said: Good morning');
    await terminal.type('2');
    const approval = await terminal.shows(/approve write_file[\s\S]*\[y\]es or \[n\]o\?/);
    expect(approval).toContain('"path": "note.txt"');
    expect(approval).toContain('Nice to meet you, Friend.');
    await terminal.type('y');
    const done = await terminal.shows(/session sess_\w+, run run_\w+/);
    expect(done).toContain('allowed');
    expect(done).toContain('Thank you, Friend. It is in note.txt.');
    await terminal.type('echo "it ended with $?"');
    await terminal.shows(/it ended with 0/);
  });

  test('denies with Enter: only a yes allows', async () => {
    await terminal.type('convoke invoke demo Hello');
    await terminal.shows(/What should I call you\?[\s\S]*>/);
    await terminal.type('Somebody else');
    await terminal.shows(/\[y\]es or \[n\]o\?/);
    await terminal.press('Enter');
    expect(await terminal.shows(/denied/)).not.toContain('allowed');
  });

  test('cancels with Ctrl-C, and the run ends as cancelled', async () => {
    await terminal.type('convoke invoke slow Hello; echo "it ended with $?"');
    await terminal.shows(/tick tick/);
    await terminal.press('C-c');
    const screen = await terminal.shows(/it ended with \d/);
    expect(screen).toContain('cancelling (press Ctrl-C again to exit)');
    expect(screen).toMatch(/^cancelled$/m);
    expect(screen).toContain('it ended with 4');
  });

  test('exits immediately with a second Ctrl-C, whatever the state of the run', async () => {
    await terminal.type('convoke invoke slow Hello; echo "it ended with $?"');
    await terminal.shows(/tick tick/);
    server.freeze();
    try {
      await terminal.press('C-c');
      await terminal.shows(/cancelling/);
      await terminal.press('C-c');
      expect(await terminal.shows(/it ended with \d/)).toContain('it ended with 130');
    } finally {
      server.thaw();
    }
  });

  test('cancels a run that waits for an answer', async () => {
    await terminal.type('convoke invoke demo Hello; echo "it ended with $?"');
    await terminal.shows(/What should I call you\?[\s\S]*>/);
    await terminal.press('C-c');
    expect(await terminal.shows(/it ended with \d/)).toContain('it ended with 4');
  });

  test('stays in a session, leaves it with an empty line, and shows how to continue', async () => {
    await terminal.type('convoke chat echo');
    await terminal.shows(/^> *$/m);
    await terminal.type('One');
    await terminal.shows(/One \(run 1\)\n> *$/m);
    await terminal.type('Two');
    await terminal.shows(/Two \(run 2\)\n> *$/m);
    await terminal.press('Enter');
    const left = await terminal.shows(/continue with: /);
    expect(left).toMatch(/convoke chat echo --session sess_\w+/);
  });
});

describe('the output at a terminal', () => {
  test('is coloured, and plain with NO_COLOR', async () => {
    await open();
    await terminal.type('convoke agents');
    await terminal.shows(/^slow .*[\s\S]*\$/m);
    expect(await terminal.raw()).toContain('\u001b[1mNAME');
    await terminal.type('clear; NO_COLOR=1 convoke agents');
    await terminal.shows(/^slow .*[\s\S]*\$/m);
    expect(await terminal.raw()).not.toContain('\u001b[1m');
  });

  test('is cut to its width', async () => {
    await open({ columns: 50 });
    await terminal.type('convoke agents');
    const screen = await terminal.shows(/^slow /m);
    expect(screen).toMatch(/^demo .*…$/m);
    expect(Math.max(...screen.split('\n').map((line) => line.length))).toBeLessThanOrEqual(50);
  });

  test('shows a spinner after a second', async () => {
    await open();
    await terminal.type('convoke invoke waits Hello');
    await terminal.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] the agent is working/);
    const screen = await terminal.shows(/Here I am/);
    expect(screen).not.toContain('the agent is working');
  });
});
