import { Client } from 'pg';
import { postgresUrl } from '../../../../test/services.ts';
import { databaseName } from './run-databases.ts';

/** The role of the service: it owns its databases and is subject to row-level security. */
const plain = { role: 'convoke_plain', password: 'convoke' };

/** Connections of one server or store: many of them share the 100 of one PostgreSQL. */
export const testConnections = '5';

/** Creates a database on the shared PostgreSQL, empty or a copy of another, and returns the URL for a service. */
export async function createPostgresDatabase(name: string, template?: string): Promise<string> {
  await administer(`do $$ begin
    create role ${plain.role} login password '${plain.password}';
    exception when duplicate_object or unique_violation then null;
  end $$`);
  const copied = template === undefined ? '' : ` template ${template}`;
  await administer(`create database ${name} owner ${plain.role}${copied}`);
  const url = new URL(postgresUrl());
  url.username = plain.role;
  url.password = plain.password;
  url.pathname = name;
  return url.href;
}

/** Runs one statement as the administrator of the PostgreSQL server, outside any database under test. */
export async function administer(text: string): Promise<void> {
  const client = new Client({ connectionString: postgresUrl() });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

export interface OwnDatabase {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

/** A database of the PostgreSQL the tests share. */
export async function createDatabase(): Promise<OwnDatabase> {
  const name = databaseName('fault');
  const url = await createPostgresDatabase(name);
  return {
    name,
    url,
    drop: () => administer(`drop database ${name} with (force)`),
  };
}

/** Runs a query that sees the rows of every tenant. */
export async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  // The test may be about to stop the database that this is connected to.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`set convoke.tenant = '*'`);
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
