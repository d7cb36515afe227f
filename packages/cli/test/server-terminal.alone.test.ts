// What a person sees who starts a server at a terminal, edits agents and stops it.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { requireTerminal } from '../../../test/services.ts';
import { freePort } from '../../../test/free-port.ts';
import { createCommandLine, mainPath, manyProcessesMs, ownEnvironment } from './command-line.ts';
import { openTerminal } from './terminal-session.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const lasting = `framework: scripted
script:
  - repeat: { times: 1000, steps: [{ sleep_ms: 500 }] }
`;

test('a server at a terminal writes lines for people, and says what happens to its runs', async () => {
  requireTerminal();
  const place = await mkdtemp(join(tmpdir(), 'convoke-start-'));
  onTestFinished(() => removeFolder(place));
  const convoke = await createCommandLine(place);
  onTestFinished(() => convoke.remove());
  const env = { ...ownEnvironment(convoke.settings), CONVOKE_PORT: String(await freePort()) };
  const terminal = await openTerminal({ cwd: place, env });
  onTestFinished(() => terminal.close());
  await terminal.type(`"${process.execPath}" "${mainPath}" dev; echo "it ended with $?"`);
  await terminal.shows(/Stop with Ctrl-C/);
  await mkdir(join(place, 'agents/greeter'));
  await writeFile(join(place, 'agents/greeter/agent.yaml'), lasting);
  const loaded = await terminal.shows(/^\d\d:\d\d:\d\d info {2}agent greeter loaded$/m);
  expect(loaded).not.toContain('{"level"');
  expect(loaded).not.toContain('broken');
  await writeFile(join(place, 'agents/greeter/agent.yaml'), 'framework: nothing\n');
  await terminal.shows(
    / warn {2}agent folder is broken \(folder: greeter, reason: agent\.yaml:1:1:/,
  );
  await writeFile(join(place, 'agents/greeter/agent.yaml'), lasting);
  await terminal.shows(/agent greeter loaded[\s\S]*agent greeter loaded/);
  await convoke.json('invoke', 'greeter', 'Hello', '--detach');
  await convoke.json('invoke', 'greeter', 'Hello', '--detach');
  await convoke.run(['invoke', 'demo', 'Hello', '--unattended']);
  await terminal.press('C-c');
  const ended = await terminal.shows(/it ended with 0/);
  // The log would continue the line of a spinner.
  expect(ended).not.toContain('waiting for the server');
  expect(ended).toContain('stopping; press Ctrl-C again to exit immediately');
  expect(ended).toMatch(/^stopped; 2 runs continue at the next start; 1 run waits for an answer$/m);
});

test('a server without an organization names the next command, at every start until there is one', async () => {
  requireTerminal();
  const place = await mkdtemp(join(tmpdir(), 'convoke-start-'));
  onTestFinished(() => removeFolder(place));
  const convoke = await createCommandLine(place);
  onTestFinished(() => convoke.remove());
  const env = { ...ownEnvironment(convoke.settings), CONVOKE_PORT: String(await freePort()) };
  await mkdir(join(place, 'agents'));
  const terminal = await openTerminal({ cwd: place, env });
  onTestFinished(() => terminal.close());
  const serve = `"${process.execPath}" "${mainPath}" serve; echo "it ended with $?"`;
  await terminal.type(serve);
  await terminal.shows(/No organization yet\..*convoke admin org create/s);
  await terminal.press('C-c');
  await terminal.shows(/it ended with 0/);
  expect((await convoke.run(['admin', 'org', 'create', '--name', 'Acme'])).code).toBe(0);
  await terminal.type(`clear; ${serve}`);
  await terminal.shows(/listening on (?!.*No organization)/s);
  await terminal.press('C-c');
  const ended = await terminal.shows(/stopped\s+it ended with 0/);
  expect(ended).not.toContain('No organization yet');
});
