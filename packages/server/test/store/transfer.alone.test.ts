import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { verifyAudit } from '../../src/app/audit.ts';
import type { Config } from '../../src/config/config.ts';
import {
  describeWriters,
  exportDeployment,
  importDeployment,
  openTransfer,
} from '../../src/operate/transfer.ts';
import { sql } from '../../src/store/sql.ts';
import { begin, logOf, runIn } from '../support/api-steps.ts';
import { createLocation, databaseKinds, openTestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type TestServer, requestToken, selecting, startServer } from '../support/server.ts';
import {
  type TenantData,
  fillTenant,
  tenantDataAgents,
  fileTextOf,
} from '../support/tenant-data.ts';

let server: TestServer;
let world: TenantData;
let exported: string;

/** Characters that JSON does not escape and that some line readers take for the end of a line. */
const prompt = 'one\u2028two\u0085three\r\nfour';

beforeAll(async () => {
  server = await startServer({ agents: tenantDataAgents });
  world = await fillTenant(server, 'canary');
  const { run } = await begin(server, 'echo', prompt);
  await runIn(server, run, 'completed');
  exported = await textOf(exportDeployment(server.config));
});

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  // Also cuts inside characters.
  for (let at = 0; at < bytes.length; at += 1021) yield bytes.subarray(at, at + 1021);
}

/** The settings of a deployment on an empty database. */
async function emptyDeployment(kind: (typeof databaseKinds)[number]): Promise<Config> {
  const location = await createLocation(kind);
  const { databaseUrl: _, ...config } = server.config;
  return kind === 'postgres'
    ? { ...config, databaseUrl: location }
    : { ...config, databaseUrl: undefined, dataDir: location.replace(/\/convoke\.db$/, '') };
}

/** The content of an export, independent of the order of a table's rows. */
function contents(text: string): string[] {
  const tables: string[][] = [];
  for (const line of text.trimEnd().split('\n').slice(1, -1)) {
    if (line.startsWith('{"table"')) tables.push([]);
    tables.at(-1)?.push(line);
  }
  return tables.map((lines) => lines.toSorted().join('\n')).toSorted();
}

describe.each(databaseKinds)('an export of %s', (kind) => {
  test('is a snapshot of the database, even while it is written', async () => {
    const place = await emptyDeployment(kind);
    await importDeployment(place, pieces(exported));
    const location = place.databaseUrl ?? join(place.dataDir, 'convoke.db');
    const writer = await openTestDatabase(kind, { location });
    const name = (n: number) => sql`insert into organizations values (${`org_${n}`}, ${'x'}, ${n})`;
    const source = await openTransfer(place, 'read');
    const [organizations] = await source.tables();
    if (organizations === undefined) throw new Error('no tables');
    const before = await source.count(organizations);
    await writer.transaction((tx) => tx.run(name(1)));
    let seen = 0;
    for await (const row of source.rows(organizations)) {
      if (seen === 0) await writer.transaction((tx) => tx.run(name(2)));
      seen += row.length > 0 ? 1 : 0;
    }
    await source.close();
    expect(seen).toBe(before);
    expect(await textOf(exportDeployment(place))).toContain('org_2');
  });
});

describe.each(databaseKinds)('an export into %s', (kind) => {
  test('has the same content when exported again', async () => {
    const place = await emptyDeployment(kind);
    const { rows, tables } = await importDeployment(place, pieces(exported));
    expect(rows).toBeGreaterThan(30);
    expect(tables).toBeGreaterThan(15);
    const again = await textOf(exportDeployment(place));
    expect(contents(again)).toEqual(contents(exported));
    expect(exported).toContain(JSON.stringify(JSON.stringify({ prompt })).slice(1, -1));
  });

  test('is refused completely when it is truncated, modified, or for another schema', async () => {
    const place = await emptyDeployment(kind);
    const lines = exported.split('\n');
    const wrong: [string, RegExp][] = [
      ['', /truncated/],
      ['hello\n', /line 1: expected the head/],
      [lines.slice(0, 20).join('\n'), /truncated|expected/],
      [lines.slice(0, -2).join('\n'), /truncated/],
      [exported.replaceAll('canary', 'canarx'), /digest does not match/],
      [exported.replace(/\n\[.*/, ''), /rows were exported/],
      [exported.replace(/"schema":\d+/, '"schema":34'), /schema 34, but this release/],
      [exported.replace('"convoke_export":1', '"convoke_export":2'), /format 2/],
      [exported.replace('"table":"users"', '"table":"people"'), /no such table people/],
      [`${exported}{}`, /unexpected text after the end/],
    ];
    for (const [text, reason] of wrong) {
      await expect(importDeployment(place, pieces(text))).rejects.toThrow(reason);
    }
    // Nothing of them was kept: otherwise this import would be refused too.
    await importDeployment(place, pieces(exported));
    await expect(importDeployment(place, pieces(exported))).rejects.toThrow(/not empty/);
  });
});

test('a backup made as the guide says, with the role of the service, contains every row', async () => {
  const place = await emptyDeployment('postgres');
  await importDeployment(place, pieces(exported));
  const restored = await emptyDeployment('postgres');
  const dump = join(server.config.dataDir, 'convoke.dump');
  const env = { ...process.env, PGOPTIONS: '-c convoke.tenant=*' };
  const options = ['--enable-row-security', '--format=custom', `--file=${dump}`];
  execFileSync('pg_dump', [...options, place.databaseUrl ?? ''], { env });
  execFileSync('pg_restore', ['--enable-row-security', '-d', restored.databaseUrl ?? '', dump], {
    env,
  });
  expect(contents(await textOf(exportDeployment(restored)))).toEqual(contents(exported));
});

test('the servers that use a database are found, whichever it is, until they have stopped', async () => {
  for (const database of ['sqlite', 'postgres'] as const) {
    const running = await startServer({ database });
    expect(await describeWriters(running.config)).toMatch(/^a server is using|^servers have \d+/);
    await running.stop();
    expect(await describeWriters(running.config)).toBeUndefined();
  }
});

test('a deployment moves from SQLite to PostgreSQL, and unfinished runs continue there', async () => {
  const { run } = await begin(server, 'echo', prompt);
  await runIn(server, run, 'completed');
  const before = await logOf(server, run);
  await server.stop();
  const CONVOKE_DATABASE_URL = await createLocation('postgres');
  const place = { ...server.config, databaseUrl: CONVOKE_DATABASE_URL };
  await importDeployment(place, exportDeployment(server.config));
  const moved = await server.restart({ env: { CONVOKE_DATABASE_URL } });

  expect(await logOf(moved, run)).toEqual(before);
  const as = selecting(world.ids, await requestToken(moved.baseUrl, world.client));
  const { session_id, run_id, file_id, interaction_key } = world.ids;
  await moved.send('answer_interaction', {
    as,
    params: { session_id, interaction_key },
    body: { answer: 'canary' },
  });
  const ended = await eventually(async () => {
    const { body } = await moved.send('get_run', { as, params: { session_id, run_id } });
    return body.status === 'completed' && body;
  });
  expect(ended.output_text).toBe('I was told canary. canary');
  const file = await moved.call('GET', `/v1/sessions/${session_id}/files/${file_id}/content`, {
    as,
  });
  expect(file.text).toBe(fileTextOf('canary'));
  for await (const { problem } of verifyAudit(moved.convoke.services)) {
    expect(problem).toBeUndefined();
  }

  const database = await openTestDatabase('postgres', { location: CONVOKE_DATABASE_URL });
  const places = await database.all<{ place: string }>(
    sql`select distinct tableoid::regclass::text as place from run_events`,
  );
  expect(places).not.toContainEqual({ place: 'run_events_elsewhere' });
});
