import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { holdDataFolder } from '../../server/src/runtime/data-folder.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

let place: string;
let convoke: CommandLine;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'convoke-transfer-'));
  convoke = await createCommandLine(place);
});
afterAll(async () => {
  await convoke.remove();
  await removeFolder(place);
});

test('import reads the output of export, from a file or a pipe, once', async () => {
  const missing = await convoke.run(['export']);
  expect([missing.code, missing.stdout]).toEqual([1, '']);
  expect(missing.stderr).toContain('run `convoke migrate` first');

  await convoke.json('admin', 'org', 'create', '--name', 'Ünïted');
  const file = join(place, 'convoke.jsonl');
  expect(await convoke.run(['export', '--output', file])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const text = await readFile(file, 'utf8');
  expect((await convoke.run(['export'])).stdout).toBe(text);
  expect(text).toContain('Ünïted');

  const elsewhere = { env: { CONVOKE_DATA_DIR: join(place, 'elsewhere') } };
  const cut = join(place, 'cut.jsonl');
  await writeFile(cut, text.slice(0, -100));
  const refused = await convoke.run(['import', cut], elsewhere);
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/^convoke: .*\n$/);

  const piped = await convoke.run(['import', '--json'], { ...elsewhere, input: text });
  expect(piped.code).toBe(0);
  expect(JSON.parse(piped.stdout)).toEqual({
    tables: expect.any(Number),
    rows: expect.any(Number),
  });
  expect((await convoke.run(['export'], elsewhere)).stdout).toBe(text);
  const again = await convoke.run(['import', file], elsewhere);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('not empty');
});

test('export refuses while a server uses the data folder, unless a snapshot is wanted', async () => {
  const env = { CONVOKE_DATA_DIR: join(place, 'busy') };
  await convoke.run(['admin', 'org', 'create', '--name', 'Busy'], { env });
  const idle = await convoke.run(['export'], { env });
  const server = holdDataFolder(env.CONVOKE_DATA_DIR);
  const refused = await convoke.run(['export'], { env });
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/^convoke: a server is using .*busy; .*--while-running.*\n$/);
  expect(await convoke.run(['export', '--while-running'], { env })).toEqual(idle);
  server.release();
  expect(await convoke.run(['export'], { env })).toEqual(idle);
});
