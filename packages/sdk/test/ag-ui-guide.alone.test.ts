// The program of docs/guides/ag-ui.md, as a reader writes it.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root, textOf } from '../../../test/repository.ts';
import { type ConvokeServer, startConvoke } from './convoke-server.ts';

let server: ConvokeServer;
beforeAll(async () => {
  server = await startConvoke();
});
afterAll(() => server[Symbol.asyncDispose]());

test('the program of the guide talks, answers, and is shown the same conversation again', async () => {
  const guide = textOf('docs/guides/ag-ui.md');
  const [, program = ''] = /^```js run\n(.*?)^```/ms.exec(guide) ?? [];
  await using folder = await openProgramFolder(root);
  const file = join(folder.path, 'chat.mjs');
  await writeFile(file, program);
  const { client_id, client_secret } = server.quickstart;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CONVOKE_BASE_URL: server.baseUrl,
      CONVOKE_CLIENT_ID: client_id,
      CONVOKE_CLIENT_SECRET: client_secret,
    },
  });
  expect(stderr).toBe('');
  expect(stdout).toContain('user Hello\nassistant Hello! You said: Hello');
  expect(stdout).toContain('tool Captain');
  expect(stdout).toContain('assistant Thank you, Captain. It is in note.txt.');
  const { devDependencies } = JSON.parse(textOf('package.json')) as {
    devDependencies: Readonly<Record<string, string>>;
  };
  expect(guide).toContain(`\`@ag-ui/client\` ${devDependencies['@ag-ui/client']}`);
});
