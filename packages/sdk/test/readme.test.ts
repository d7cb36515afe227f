import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startConvoke } from './convoke-server.ts';

test('the first example of the README works unchanged', async () => {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
  const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
  await using server = await startConvoke();
  const { base_url, client_id, client_secret } = server.quickstart;
  // Here, so that Node finds the package as an application would.
  const program = join(import.meta.dirname, `readme-example-${process.pid}.mjs`);
  await writeFile(program, example);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program], {
      env: {
        CONVOKE_BASE_URL: base_url,
        CONVOKE_CLIENT_ID: client_id,
        CONVOKE_CLIENT_SECRET: client_secret,
      },
    });
    expect(stdout).toBe(
      'Hello! You said: Hello!\n\nNice to meet you, Captain. May I write that down?\n\n' +
        'Thank you, Captain. It is in note.txt.\n',
    );
  } finally {
    await rm(program);
  }
});
