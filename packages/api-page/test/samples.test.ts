import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument } from '@convoke/contract';
import { expect, test } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { allSamples } from '../src/samples/samples.ts';

const samples = allSamples(openApiDocument({ version: '1' }));

test('every Python example calls methods that the client has, with arguments they take', async () => {
  const programs = samples.filter(({ language }) => language === 'python').map(({ code }) => code);
  expect(programs.length).toBeGreaterThan(60);
  execFileSync('python3', ['-B', '-W', 'error', join(import.meta.dirname, 'check_samples.py')], {
    input: JSON.stringify(programs),
    env: { ...process.env, PYTHONPATH: join(root, 'packages/python/src') },
  });
});

test('every example for the SDK compiles against it', async () => {
  const programs = samples.filter(({ language }) => language === 'sdk');
  expect(programs.length).toBeGreaterThan(30);
  await using folder = await openProgramFolder(root);
  const { path } = folder;
  await writeFile(join(path, 'known.d.ts'), known);
  for (const { id, code } of programs) await writeFile(join(path, `${id}.ts`), code);
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noUnusedLocals: false, typeRoots: [join(root, 'node_modules/@types')] },
    include: ['*.ts'],
  };
  await writeFile(join(path, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const compiled = spawnSync(process.execPath, [compiler, '-p', path], { encoding: 'utf8' });
  expect(compiled.stdout).toBe('');
});

/** What the examples take from around them. */
const known = `
declare const baseUrl: string, clientId: string, clientSecret: string, token: string;
declare const organizationId: string, tenantId: string, sessionId: string, runId: string, scheduleId: string, budgetId: string, webhookId: string, deliveryId: string, service: string;
declare const fileId: string, interactionKey: string, credentialId: string, invitationId: string, userId: string, secret: string, bytes: Uint8Array;
`;
