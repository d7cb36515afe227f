import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openProgramFolder } from '../../../../../test/program-folder.ts';
import { root, textOf } from '../../../../../test/repository.ts';
import { startServer } from '../../support/server.ts';

const run = promisify(execFile);

test('the program of the guide calls a published agent, answers it, and prints what it says', async () => {
  const guide = textOf('docs/guides/a2a.md');
  const [program = ''] = Array.from(guide.matchAll(/^```js\n(.*?)^```/gms), ([, text]) => text);
  const greeter = {
    description: 'Greets',
    publish: ['a2a'],
    approval_required_tools: ['write_*'],
    script: [
      { ask: { question: 'Who are you?' } },
      { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{answer}}' } } },
      { say: '{{prompt}}, {{answer}}!' },
    ],
  };
  const server = await startServer({ agents: { greeter } });
  const { organization_id, tenant_id, client_id, client_secret } = server.quickstart;
  await using folder = await openProgramFolder(join(root, 'packages/server'));
  const path = join(folder.path, 'call.mjs');
  await writeFile(path, program);
  const { stdout } = await run(process.execPath, [path], {
    env: {
      AGENT_URL: `${server.baseUrl}/v1/a2a/${organization_id}/${tenant_id}/greeter`,
      TOKEN_URL: `${server.baseUrl}/v1/oauth/token`,
      CLIENT_ID: client_id,
      CLIENT_SECRET: client_secret,
    },
  });
  expect(stdout.trim().split('\n')).toEqual([
    'asked: Who are you?',
    'asked: The agent asks for permission to call write_file.',
    'Hello, Captain!',
  ]);
});
