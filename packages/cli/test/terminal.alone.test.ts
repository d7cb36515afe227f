// A person's session at a terminal, recorded: what the screen shows is what is checked.
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request as call } from 'node:http';
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

/** Its question and its tool's input would turn the rest of their line around. */
const turns = `schema: 1
name: turns
description: Turns text around
framework: scripted
approval_required_tools: [write_file]
script:
  - say: "before\\u202Eafter\\n"
  - ask: { question: "Pay \\u202E001 now?" }
  - tool: { name: write_file, input: { path: "a\\u2066b\\u009Bc.txt", text: x } }
`;

let server: DevServer;
let convoke: CommandLine;
let terminal: TerminalSession;
beforeAll(async () => {
  requireTerminal();
  server = await startDevServer(async (place) => {
    await mkdir(join(place, 'agents/waits'));
    await writeFile(join(place, 'agents/waits/agent.yaml'), waits);
    await mkdir(join(place, 'agents/turns'));
    await writeFile(join(place, 'agents/turns/agent.yaml'), turns);
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
    const approval = await terminal.shows(/approve write_file[\s\S]*\[y\]es, \[n\]o.*\? *$/m);
    expect(approval).toContain('"path": "outputs/note.txt"');
    expect(approval).toContain('Nice to meet you, Friend.');
    await terminal.type('y');
    const done = await terminal.shows(/session sess_\w+, run run_\w+/);
    expect(done).toContain('write_file: allowed');
    const below =
      /Thank you, Friend\. It is in note\.txt\.\n+note\.txt \(27 bytes\)\n {2}download with: (.*)\n/;
    const [, download = ''] = below.exec(done) ?? [];
    await terminal.type('echo "it ended with $?"');
    await terminal.shows(/it ended with 0/);
    await terminal.type(`clear; ${download} && cat note.txt`);
    await terminal.shows(/^Friend was here, in run 1\.$/m);
  });

  test('sees an error that asks to redirect the prompt of -', async () => {
    await terminal.type('convoke invoke demo -; echo "it ended with $?"');
    expect(await terminal.shows(/it ended with 2/)).toContain('redirect it with < or |');
  });

  test('sees the characters that would turn an answer, a question or an approval around', async () => {
    await terminal.type('convoke invoke turns Hello');
    const asked = await terminal.shows(/Pay ⟨U\+202E⟩001 now\?[\s\S]*> *$/m);
    expect(asked).toContain('before⟨U+202E⟩after');
    await terminal.type('no');
    await terminal.shows(/"path": "a⟨U\+2066⟩b⟨U\+009B⟩c\.txt"[\s\S]*\[l\]ater\?/);
    await terminal.type('l');
    await terminal.shows(/follow the run with/);
    // The request is on the screen already: the mark tells that what is shown is the inbox's.
    await terminal.type('clear; echo inbox:; convoke inbox --agent turns; echo "it ended with $?"');
    await terminal.shows(
      /^inbox:\n[\s\S]*turns[\s\S]*"path": "a⟨U\+2066⟩b⟨U\+009B⟩c\.txt"[\s\S]*\[l\]ater\?/m,
    );
    expect(await terminal.raw()).not.toMatch(/[\u202e\u2066\u009b]/);
    await terminal.press('C-c');
    expect(await terminal.shows(/it ended with 130/)).not.toContain('convoke:');
  });

  test('watches a quiet tenant without a word about the server', async () => {
    await terminal.type('convoke watch');
    const screen = await terminal.shows(/^watching \(press Ctrl-C to exit\)$/m);
    expect(screen).not.toContain('waiting for the server');
  });

  test('is asked again until the answer is clear: only a yes allows, only a no denies', async () => {
    await terminal.type('convoke invoke demo Hello');
    await terminal.shows(/What should I call you\?[\s\S]*>/);
    await terminal.type('7');
    await terminal.shows(/there is no option 7; choose 1 to 2\n +> *$/m);
    await terminal.press('Enter');
    await terminal.shows(/type an answer\n +> *$/m);
    await terminal.type('Somebody else');
    await terminal.shows(/Nice to meet you, Somebody else\.[\s\S]*\[y\]es, \[n\]o.*\?/);
    await terminal.type('clear; ls');
    await terminal.shows(/clear; ls\n.*letters in brackets/);
    await terminal.press('Enter');
    expect(await terminal.shows(/brackets[\s\S]*brackets[\s\S]*\? *$/m)).not.toContain('denied');
    await terminal.type('n');
    expect(await terminal.shows(/write_file: denied/)).not.toContain('allowed');
  });

  test('edits the input before it is allowed, in the editor or in one line', async () => {
    const editor = `EDITOR="sed -i s/note.txt/edited.txt/"`;
    await terminal.type(`${editor} convoke invoke demo Hello --answer 1`);
    await terminal.shows(/\[e\]dit.*\?/);
    await terminal.type('e');
    await terminal.shows(/"path": "outputs\/edited\.txt"[\s\S]*\(edited\)\n.*\? *$/m);
    await terminal.type('y');
    await terminal.shows(/session sess_\w+, run run_\w+/);
    expect(await lastInteraction()).toMatchObject({
      decision: 'allow',
      updated_input: { path: 'outputs/edited.txt' },
    });
    await terminal.type('clear; unset EDITOR VISUAL; echo empty');
    await terminal.shows(/^empty$/m);
    await terminal.type('convoke invoke demo Hello --answer 1');
    await terminal.shows(/\[e\]dit.*\?/);
    await terminal.type('e');
    await terminal.shows(/as JSON in one line: *$/m);
    await terminal.type('not JSON');
    await terminal.shows(/not valid JSON: .*\n.*\? *$/m);
    await terminal.type('e');
    await terminal.shows(/as JSON in one line: *$/m);
    await terminal.type('{"path": "typed.txt", "text": "x"}');
    await terminal.shows(/\(edited\)\n.*\? *$/m);
    await terminal.type('y');
    await terminal.shows(/session sess_\w+, run run_\w+/);
    expect(await lastInteraction()).toMatchObject({
      updated_input: { path: 'typed.txt', text: 'x' },
    });
  });

  test('sees what a file of rules changes before it is written, and is asked (D-527)', async () => {
    const file = join(convoke.settings, 'rules.yaml');
    await writeFile(file, 'rules: [{ name: mail, tools: ["mail/*"], effect: deny }]\n');
    await terminal.type(`convoke rules set ${file}`);
    await terminal.shows(/\+ - name: mail[\s\S]*Replace the rules\? \[y\]es or \[n\]o: $/m);
    await terminal.type('n');
    await terminal.shows(/nothing was changed/);
    expect(await convoke.json('rules')).toMatchObject({ version: 0, rules: [] });
    await terminal.type(`clear; convoke rules set ${file}`);
    await terminal.shows(/Replace the rules\? \[y\]es or \[n\]o: $/m);
    await terminal.type('y');
    await terminal.shows(/^version 1$/m);
    await terminal.type(`clear; convoke rules set ${file}`);
    await terminal.shows(/^version 1, unchanged$/m);
  });

  test('denies with a reason', async () => {
    await terminal.type('convoke invoke demo Hello --answer 1');
    await terminal.shows(/no with a \[r\]eason.*\?/);
    await terminal.type('r');
    await terminal.shows(/reason: *$/m);
    await terminal.type('not today');
    await terminal.shows(/write_file: denied/);
    expect(await lastInteraction()).toMatchObject({ decision: 'deny', message: 'not today' });
  });

  test('leaves an approval for later, and gets the command that answers it', async () => {
    await terminal.type('convoke invoke demo Hello --answer 1; echo "it ended with $?"');
    await terminal.shows(/\[l\]ater\?/);
    await terminal.type('l');
    const screen = await terminal.shows(/it ended with \d/);
    expect(screen).toContain('it ended with 7');
    const [, command = ''] = /answer with: convoke (.*--allow)/.exec(screen) ?? [];
    const [, session = '', run = ''] =
      /follow the run with: convoke events (\S+) (\S+)/.exec(screen) ?? [];
    await convoke.json(...command.split(' '));
    const followed = await convoke.run(['events', session, run, '--follow']);
    expect(followed).toMatchObject({ code: 0 });
    expect(followed.stdout).toContain('Thank you, Captain.');
  });

  /** The newest interaction of the newest session with the demo agent. */
  async function lastInteraction(): Promise<unknown> {
    const list = ['sessions', 'list', '--agent', 'demo', '--limit', '1'];
    const { sessions } = await convoke.json<{ sessions: { id: string }[] }>(...list);
    const { interactions } = await convoke.json<{ interactions: unknown[] }>(
      'interactions',
      sessions[0]?.id ?? '',
      '--status',
      'all',
    );
    return interactions[0];
  }

  test('is asked after Ctrl-C, cancels, and the run ends as cancelled', async () => {
    await terminal.type('convoke invoke slow Hello; echo "it ended with $?"');
    await terminal.shows(/tick tick/);
    await terminal.press('C-c');
    await terminal.shows(/\[c\]ancel the run, \[l\]eave it running or \[k\]eep watching\? *$/m);
    await terminal.type('c');
    const screen = await terminal.shows(/it ended with \d/);
    expect(screen).toContain('cancelling (press Ctrl-C again to exit)');
    expect(screen).toMatch(/^cancelled$/m);
    expect(screen).toContain('it ended with 4');
  });

  test('leaves the run running after Ctrl-C', async () => {
    await terminal.type('convoke invoke slow Hello; echo "it ended with $?"');
    await terminal.shows(/tick tick/);
    await terminal.press('C-c');
    await terminal.shows(/\[k\]eep watching\? *$/m);
    await terminal.type('l');
    const screen = await terminal.shows(/it ended with \d/);
    expect(screen).toContain('it ended with 7');
    const [, session = '', run = ''] = /session (\S+), run (\S+)/.exec(screen) ?? [];
    const { status } = await convoke.json('runs', 'show', session, run);
    expect(status).toMatch(/^(running|completed)$/);
  });

  test('exits immediately with a second Ctrl-C, whatever the state of the run', async () => {
    await terminal.type('convoke invoke slow Hello; echo "it ended with $?"');
    await terminal.shows(/tick tick/);
    server.freeze();
    try {
      await terminal.press('C-c');
      await terminal.shows(/\[k\]eep watching\? *$/m);
      await terminal.press('C-c');
      expect(await terminal.shows(/it ended with \d/)).toContain('it ended with 130');
      server.thaw();
      await terminal.type('clear; echo empty');
      await terminal.shows(/^empty$/m);
      await terminal.type('convoke invoke slow Hello; echo "it ended with $?"');
      await terminal.shows(/tick tick/);
      server.freeze();
      await terminal.press('C-c');
      await terminal.shows(/\[k\]eep watching\? *$/m);
      await terminal.type('c');
      await terminal.shows(/cancelling/);
      await terminal.press('C-c');
      expect(await terminal.shows(/it ended with \d/)).toContain('it ended with 130');
    } finally {
      server.thaw();
    }
  });

  test('keeps asking the question after Ctrl-C, or cancels the run that waits', async () => {
    await terminal.type('convoke invoke demo Hello; echo "it ended with $?"');
    await terminal.shows(/What should I call you\?[\s\S]*>/);
    await terminal.press('C-c');
    await terminal.shows(/\[k\]eep watching\? *$/m);
    await terminal.type('k');
    await terminal.shows(/watching\? k\n[\s\S]*What should I call you\?[\s\S]*>/);
    await terminal.press('C-c');
    await terminal.shows(/\[k\]eep watching\?[\s\S]*\[k\]eep watching\? *$/m);
    await terminal.type('c');
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

describe('a person who deletes', () => {
  beforeEach(() => open());

  test('types the name of a tenant before it is offboarded', async () => {
    const { id = '' } = await convoke.json('tenants', 'create', '--name', 'Old Europe');
    await terminal.type(`convoke tenants offboard ${id}`);
    await terminal.shows(
      /deletes the tenant ten_\w+:\n +name +Old Europe\n[\s\S]*to delete it: *$/m,
    );
    await terminal.type('old europe');
    await terminal.shows(/the name does not match; nothing was deleted/);
    expect(await convoke.json('tenants', 'show', id)).toMatchObject({
      status: expect.stringMatching(/^(provisioning|active)$/),
    });
    await terminal.type(`clear; convoke tenants offboard ${id}`);
    await terminal.shows(/to delete it: *$/m);
    await terminal.type('Old Europe');
    await terminal.shows(/offboard(ing|ed)\//);
  });

  test('is asked before a credential in use is revoked', async () => {
    const made = await convoke.run(['clients', 'create', '--name', 'Used', '--save']);
    const [, client = ''] = /^client +(cli_\S+)$/m.exec(made.stdout) ?? [];
    const list = ['credentials', 'list', client];
    const { credentials } = await convoke.json<{ credentials: { id: string }[] }>(...list);
    await terminal.type(`convoke credentials revoke ${client} ${credentials[0]?.id}`);
    await terminal.shows(/saved login "used" uses this credential[\s\S]*\[y\]es or \[n\]o: *$/m);
    await terminal.type('n');
    await terminal.shows(/nothing was revoked/);
    expect(await convoke.json(...list)).toMatchObject({ credentials: [{ status: 'active' }] });
    await convoke.json('logins', 'remove', 'used');
  });
});

describe('the output at a terminal', () => {
  test('is coloured, and plain with NO_COLOR', async () => {
    await open();
    await terminal.type('convoke agents');
    await terminal.shows(/^slow .*[\s\S]*\$/m);
    expect(await terminal.raw()).toContain('\u001b[1mNAME');
    // The screen still has the first list when the keys arrive: a line of its own says that the second one is there.
    await terminal.type("clear; NO_COLOR=1 convoke agents; echo 'second list'");
    expect(await terminal.shows(/^second list$/m)).toMatch(/^slow /m);
    expect(await terminal.raw()).not.toContain('\u001b[1m');
  });

  test('is cut to its width', async () => {
    await open({ columns: 50 });
    await terminal.type('convoke agents');
    const screen = await terminal.shows(/^slow /m);
    expect(screen).toMatch(/^demo .*…$/m);
    expect(Math.max(...screen.split('\n').map((line) => line.length))).toBeLessThanOrEqual(50);
  });

  test('says after two seconds that it waits for the server, and continues when that is back', async () => {
    const base = server.quickstart['base_url'] ?? '';
    let isAway = true;
    const front = createServer((request, response) => {
      if (isAway && request.url?.startsWith('/v1/agents') === true) {
        isAway = false;
        response.writeHead(503, { 'retry-after': '3' }).end();
        return;
      }
      const { method = 'GET', headers } = request;
      request.pipe(
        call(new URL(request.url ?? '/', base), { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        }),
      );
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    const address = front.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      await open({
        env: {
          CONVOKE_BASE_URL: `http://127.0.0.1:${port}`,
          CONVOKE_CLIENT_ID: server.quickstart['client_id'] ?? '',
          CONVOKE_CLIENT_SECRET: server.quickstart['client_secret'] ?? '',
        },
      });
      await terminal.type('convoke agents');
      await terminal.shows(/waiting for the server\n/);
      expect(await terminal.shows(/NAME +FRAMEWORK/)).toMatch(/waiting for the server\n/);
    } finally {
      front.close();
      front.closeAllConnections();
    }
  });

  test('shows a spinner after a second', async () => {
    await open();
    await terminal.type('convoke invoke waits Hello');
    await terminal.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] the agent is working/);
    const screen = await terminal.shows(/Here I am/);
    expect(screen).not.toContain('the agent is working');
  });
});
