// The guide "Add an endpoint": its operation is declared as printed, in a copy of the contract.
import { spawnSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root, textOf } from '../../../test/repository.ts';
import { formatted } from '../../sdk/scripts/format.ts';
import type * as Contract from '../src/index.ts';

test('the operation of "Add an endpoint" compiles, and is part of the API with all that is added to it', async () => {
  const guide = textOf('docs/guides/add-an-endpoint.md');
  const [, indented = ''] = /^ *```ts\n(.*?)^ *```$/ms.exec(guide) ?? [];
  const code = indented.replaceAll(/^ {3}/gm, '');
  expect(formatted('webhooks.ts', code)).toBe(code);

  await using program = await openProgramFolder(join(root, 'packages/contract'));
  const folder = program.path;
  await cp(join(root, 'packages/contract/src'), join(folder, 'src'), { recursive: true });
  const change = async (file: string, edit: (text: string) => string) => {
    const path = join(folder, 'src/operations', file);
    await writeFile(path, edit(await readFile(path, 'utf8')));
  };
  await change('webhooks.ts', (text) => `${text}\n${code}`);
  await change('table.ts', (text) =>
    text
      .replace('  listWebhooks,\n', (line) => `${line}  noteWebhook,\n`)
      .replace(
        '  list_webhooks: listWebhooks,\n',
        (line) => `${line}  note_webhook: noteWebhook,\n`,
      ),
  );
  const config = { extends: join(root, 'tsconfig.json'), include: ['src'], exclude: [] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  expect(stdout).toBe('');

  const { openApiDocument }: typeof Contract = await import(
    pathToFileURL(join(folder, 'src/index.ts')).href
  );
  const operation = openApiDocument({ version: '1.2.3' }).paths['/v1/webhooks/{webhook_id}/note']?.[
    'put'
  ];
  expect(operation).toMatchObject({
    operationId: 'note_webhook',
    summary: 'Give a webhook a note',
  });
  // Those of the gate, the body and a missing id are added.
  expect(Object.keys(operation?.responses ?? {})).toEqual(
    expect.arrayContaining(['200', '400', '401', '403', '404', '413', '429']),
  );
});
