import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { downloadMs, oldestNode } from '../../../test/oldest-node.ts';
import { startConvoke } from './convoke-server.ts';

test(
  'the first example of the README works unchanged on the oldest Node it names',
  async () => {
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
    const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
    expect(readme).toContain('client for Node 20.18 or newer');
    const node = await oldestNode();
    await using server = await startConvoke();
    const { base_url, client_id, client_secret, tenant_id } = server.quickstart;
    // Here, so that Node finds the package as an application would.
    const program = join(import.meta.dirname, `readme-example-${process.pid}.mjs`);
    await writeFile(program, example);
    try {
      const { stdout } = await promisify(execFile)(node, [program], {
        env: {
          CONVOKE_BASE_URL: base_url,
          CONVOKE_CLIENT_ID: client_id,
          CONVOKE_CLIENT_SECRET: client_secret,
          CONVOKE_CLIENT_TENANT_ID: tenant_id,
        },
      });
      expect(stdout).toBe(
        'Hello! You said: Hello!\n\nNice to meet you, Captain. May I write that down?\n\n' +
          'Thank you, Captain. It is in note.txt.\n',
      );
    } finally {
      await rm(program);
    }
  },
  downloadMs,
);

test('the package of a checkout exports what its sources export', async () => {
  const pairs = [
    [await import('@convoke/sdk'), await import('../src/index.ts')],
    [await import('@convoke/sdk/node'), await import('../src/node.ts')],
  ];
  for (const [ours, sources] of pairs) expect({ ...ours }).toEqual({ ...sources });
});
