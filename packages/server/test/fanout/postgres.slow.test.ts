import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresFanout } from '../../src/fanout/postgres.ts';
import type { Fanout } from '../../src/ports/fanout.ts';
import { createLocation } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { quietLog } from '../support/quiet-log.ts';
import { fanoutSuite } from './suite.ts';

let url: string;
beforeAll(async () => {
  url = await createLocation('postgres');
});

const joined: Fanout[] = [];
afterEach(async () => {
  for (const fanout of joined.splice(0)) await fanout.close();
});

async function join(): Promise<Fanout> {
  const fanout = await openPostgresFanout({ url, log: quietLog });
  joined.push(fanout);
  return fanout;
}

async function query(text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

const listening = `from pg_stat_activity where datname = current_database() and application_name = 'convoke wake-ups'`;

describe('wake-ups by LISTEN/NOTIFY', () => {
  fanoutSuite(() => ({
    join,
    interrupt: async () => {
      await query(`select pg_terminate_backend(pid) ${listening}`);
      return true;
    },
  }));

  test('a start without PostgreSQL succeeds with a warning, and local wake-ups work', async () => {
    const log = { ...quietLog, warnings: 0, warn: () => (log.warnings += 1) };
    const nowhere = 'postgres://postgres@127.0.0.1:1/postgres';
    const fanout = await openPostgresFanout({ url: nowhere, log });
    let count = 0;
    fanout.subscribe('work', () => (count += 1));
    fanout.wake('work');
    expect(count).toBe(1);
    expect(log.warnings).toBe(1);
    await fanout.close();
  });

  test('reports the round-trip time of a wake-up', async () => {
    const lags: number[] = [];
    const onLag = (seconds: number) => lags.push(seconds);
    joined.push(await openPostgresFanout({ url, log: quietLog, onLag }));
    await eventually(() => lags.length > 0);
    expect(lags[0]).toBeGreaterThan(0);
  });

  test('a server that hears no other sends no wake-ups, and sends again as soon as one joins', async () => {
    const heard: string[] = [];
    const listener = new pg.Client({ connectionString: url });
    await listener.connect();
    listener.on('notification', ({ payload = '' }) => heard.push(payload));
    await listener.query('listen convoke_wakeups');
    let now = 0;
    const first = await openPostgresFanout({ url, log: quietLog, elapsed: () => now });
    joined.push(first);
    now = 60_000;
    first.wake('work');
    let wokenByJoining = 0;
    first.subscribe('deliveries', () => (wokenByJoining += 1));
    await join();
    await eventually(() => wokenByJoining > 0);
    first.wake('notices');
    await eventually(() => heard.some((payload) => payload.endsWith(' notices')));
    await listener.end();
    expect(heard.filter((payload) => payload.includes('work'))).toEqual([]);
  });

  test('leaves no connection behind when it is closed', async () => {
    const fanout = await join();
    await fanout.close();
    joined.pop();
    expect(await eventually(async () => (await query(`select 1 ${listening}`)).length === 0)).toBe(
      true,
    );
  });
});
