import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

let place: string;
let convoke: CommandLine;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'convoke-migrate-'));
  convoke = await createCommandLine(place);
});
afterAll(async () => {
  await convoke.remove();
  await removeFolder(place);
});

test('migrate lists what it applies; --check changes nothing and lists what is pending', async () => {
  const before = await convoke.run(['migrate', '--check']);
  expect(before.code).toBe(1);
  expect(before.stdout).toMatch(/^pending 0001-schema\n/);
  expect(before.stderr).toContain('run `convoke migrate`');
  const applied = await convoke.run(['migrate']);
  expect(applied.code).toBe(0);
  expect(applied.stderr).toMatch(/^applied 0001-schema\n/);
  expect(await convoke.run(['migrate', '--check'])).toMatchObject({ code: 0, stderr: '' });
  expect(await convoke.json('migrate')).toMatchObject({ applied: [], pending: [] });
});

test('a database of a newer release is rejected by every command that opens it', async () => {
  const database = new DatabaseSync(join(place, '.convoke/convoke.db'));
  database.exec("insert into schema_migrations values (99, 'later', 0)");
  database.close();
  for (const args of [['migrate'], ['migrate', '--check'], ['serve'], ['audit', 'list']]) {
    const { code, stderr } = await convoke.run(args);
    expect([args, code]).toEqual([args, 1]);
    expect(stderr).toMatch(
      /^convoke: the database has schema (version )?99, but this release (knows|supports) only \d+/,
    );
    expect(stderr.trim().split('\n')).toHaveLength(1);
  }
});

test('a database of an earlier commit is rejected in one line; doctor says the same', async () => {
  const database = new DatabaseSync(join(place, '.convoke/convoke.db'));
  database.exec("update schema_migrations set name = 'spine' where version = 1");
  database.close();
  for (const args of [['migrate', '--check'], ['serve']]) {
    const { code, stderr } = await convoke.run(args);
    expect([args, code]).toEqual([args, 1]);
    expect(stderr).toMatch(
      /^convoke: the database was written by an earlier commit of Convoke: .*0001-spine.*; data from before the first release is not read: start with an empty/,
    );
    expect(stderr.trim().split('\n')).toHaveLength(1);
  }
  const { code, stdout } = await convoke.run(['doctor']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/fail {2}database .*0001-spine.*\n *→ data from before the first release/);
});
