import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { type ConvokeServer, startConvoke } from '../../sdk/test/convoke-server.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs, hookTimeout: manyProcessesMs });

let server: ConvokeServer;
let folder: Awaited<ReturnType<typeof openProgramFolder>>;
let commandLine: CommandLine;
beforeAll(async () => {
  server = await startConvoke();
  folder = await openProgramFolder(root);
  await mkdir(join(folder.path, '.convoke'));
  await writeFile(join(folder.path, '.convoke/quickstart.json'), JSON.stringify(server.quickstart));
  commandLine = await createCommandLine(folder.path);
});
afterAll(async () => {
  await commandLine.remove();
  await folder[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test('accounts are set from standard input, listed without secrets and revoked (D-590)', async () => {
  const set = (args: readonly string[], input: string) =>
    commandLine.run(['connections', 'set', ...args], { input });
  expect(await set(['crm'], 'a-planted-secret\n')).toMatchObject({
    code: 0,
    stdout: 'crm  (tenant)  connected\n',
  });
  const oauth = JSON.stringify({ access_token: 'a-planted-secret' });
  expect((await set(['github', '--end-user', 'u-17', '--oauth'], oauth)).code).toBe(0);
  expect((await set(['mail', '--header', 'X-Api-Key'], 'a-planted-secret')).code).toBe(0);
  for (const input of ['', '{']) {
    expect((await set(['github', '--oauth'], input)).code).not.toBe(0);
  }
  const { stdout } = await commandLine.run(['connections']);
  expect(stdout).toMatch(
    /^mail .*\ngithub +u-17 +connected +oauth .*\ncrm +\(tenant\) +connected +bearer/m,
  );
  expect(stdout).not.toContain('planted');
  const gone = await commandLine.run(['connections', 'delete', 'github', '--end-user', 'u-17']);
  expect(gone).toMatchObject({ code: 0, stdout: 'github  u-17  deleted\n' });
  const { connections } = await commandLine.json<{ connections: { service: string }[] }>(
    'connections',
    'list',
  );
  expect(connections.map(({ service }) => service)).toEqual(['mail', 'crm']);
});
