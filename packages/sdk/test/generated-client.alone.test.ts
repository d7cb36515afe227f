import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { Convoke } from '../src/index.ts';
import { clientOf, startConvoke } from './convoke-server.ts';

const run = promisify(execFile);

test('a client that openapi-typescript generates compiles without a cast and runs the whole story', async () => {
  const guide = await readFile(join(root, 'docs/guides/generate-a-client.md'), 'utf8');
  const [, program = ''] = /^```ts run\n([\s\S]*?)^```/m.exec(guide) ?? [];
  expect(program).not.toMatch(/\bas\b(?! from)|\bany\b|@ts-|\w!|<unknown>/);
  await using folder = await openProgramFolder(join(import.meta.dirname, '..'));
  await using server = await startConvoke();
  const types = await openapiTypescript(new URL('/openapi.json', server.baseUrl));
  await writeFile(join(folder.path, 'convoke.d.ts'), astToString(types));
  await writeFile(join(folder.path, 'story.mts'), program);
  await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  // The compiler reports problems on its output, and then ends with an error that does not name them.
  const compiled = spawnSync(process.execPath, [compiler, '-p', folder.path], { encoding: 'utf8' });
  expect(compiled.stdout).toBe('');

  const { baseUrl, clientId, clientSecret } = clientOf(server);
  const { stdout } = await run(process.execPath, [join(folder.path, 'story.mts')], {
    env: {
      CONVOKE_BASE_URL: baseUrl,
      CONVOKE_CLIENT_ID: clientId,
      CONVOKE_CLIENT_SECRET: clientSecret,
    },
  });
  expect(stdout).toContain('Hello! You said: Hello');
  expect(stdout).toContain('Captain');
  const convoke = new Convoke(clientOf(server));
  const [session] = (await convoke.sessions.list().page()).items;
  const asked = await convoke.sessions
    .at(session?.id ?? '')
    .interactions.list({ status: 'all' })
    .page();
  expect(asked.items).toMatchObject([
    { kind: 'permission', decision: 'allow', updated_input: { path: 'log.txt' } },
    { kind: 'question', answer: 'Captain' },
  ]);
});

/** The strictest that a user of the generated types may have. */
const settings = {
  extends: join(root, 'tsconfig.json'),
  compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
  include: ['story.mts'],
};
