import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { migrationsFolder } from '../../src/store/database.ts';
import { databaseKinds } from '../support/databases.ts';
import { migrationProblems } from './migration-rules.ts';

test.each(databaseKinds)('the migrations of %s can be applied while older servers run', (kind) => {
  const folder = migrationsFolder(kind);
  // No older server exists before the first.
  const later = readdirSync(folder).toSorted().slice(1);
  const problems = later.flatMap((file) =>
    migrationProblems(readFileSync(join(folder, file), 'utf8')).map((each) => `${file} ${each}`),
  );
  expect(problems).toEqual([]);
});

test('both databases have the same migrations', () => {
  expect(readdirSync(migrationsFolder('sqlite'))).toEqual(
    readdirSync(migrationsFolder('postgres')),
  );
});

describe('a change that breaks an older server is found', () => {
  test.each([
    'drop table runs',
    'alter table runs drop column note',
    'alter table runs rename column note to remark',
    'alter table runs rename to tasks',
    'alter table runs alter column number type text',
    'alter table runs alter column number set data type text',
    'alter table runs alter column note set not null',
    'alter table runs add column a text, add column note text not null',
    'alter table runs add constraint positive check (number > 0)',
    'create index runs_by_note on runs (note)',
    'create unique index runs_by_note\n  on runs (note)',
    'delete from runs',
  ])('%s', (statement) => {
    expect(migrationProblems(`-- Notes.\n${statement};`)).toHaveLength(1);
  });

  test.each([
    'alter table runs add column note text',
    "alter table runs add column note text not null default ''",
    'create table notes (id text not null); create index notes_by_id on notes (id)',
    'create index if not exists runs_by_note on runs (note)',
    'alter table runs add constraint positive check (number > 0) not valid',
    '-- drop table runs',
  ])('a compatible change is accepted: %s', (text) => {
    expect(migrationProblems(text)).toEqual([]);
  });

  test('a contract step names the release that no longer uses the removed columns', () => {
    const removal = 'alter table runs drop column note;';
    expect(migrationProblems(`-- contract: release 0.4 does not read it\n${removal}`)).toEqual([]);
    expect(migrationProblems(`-- contract\n${removal}`)).toHaveLength(1);
  });
});
