import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { examineBackground } from '../../src/operate/doctor/background.ts';
import type { Store } from '../../src/ports/store.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { drive } from '../../src/workers/driver.ts';
import { type ReportedPasses, readPassReport } from '../../src/workers/pass-report.ts';
import { FakeClock } from '../support/clocks.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type MetricSample, readSamples, sampleOf } from '../support/metric-samples.ts';
import { quietLog } from '../support/quiet-log.ts';
import { type TestServer, startServer } from '../support/server.ts';

const alone = [
  'dispatch runs',
  'end parked cancellations',
  'renew leases',
  'reconcile runs',
  'fire schedules',
  'forget fires',
  'deliver webhooks',
  'forget deliveries',
  'cancel called runs',
  'settle waits',
  'answer connected',
  'expire interactions',
  'expire sessions',
  'release sessions',
  'finish withdrawals',
  'provision tenants',
  'offboard tenants',
  'forget tenants',
  'number notices',
  'forget old notices',
  'remove blobs',
  'remove session folders',
  'expire identity records',
  'forget rate limits',
  'count usage',
  'forget usage',
  'check audit',
  'rotate signing keys',
  'prepare event log',
  'write pass report',
];

async function samplesOf(server: TestServer): Promise<MetricSample[]> {
  return readSamples(await (await server.fetch('GET', '/metrics')).text());
}

/** Moves the server's clock on until its report is as wanted. */
async function reportOf(
  { config, clock }: { readonly config: Config; readonly clock: FakeClock },
  isWanted: (report: ReportedPasses) => boolean,
): Promise<ReportedPasses> {
  return eventually(async () => {
    clock.advance(1_000);
    const found = await readPassReport(config.dataDir);
    return found !== undefined && isWanted(found.report) ? found.report : undefined;
  });
}

const haveAllSucceeded = ({ passes }: ReportedPasses) =>
  passes.every(({ last_succeeded_at }) => last_succeeded_at !== null);

describe.each(databaseKinds)('background work of a healthy server on %s', (database) => {
  const expected = database === 'sqlite' ? alone : [...alone, 'check control', 'abandon lost runs'];
  const clock = new FakeClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, clock });
  });

  test('shows every pass of the catalogue in the metrics', async () => {
    const samples = await eventually(async () => {
      const now = await samplesOf(server);
      const named = now.filter(
        ({ name }) => name === 'convoke_pass_last_success_timestamp_seconds',
      );
      return named.length === expected.length ? now : undefined;
    });
    for (const pass of expected) {
      const at = sampleOf(samples, 'convoke_pass_last_success_timestamp_seconds', { pass });
      expect(at).toBe(clock.now() / 1000);
      expect(sampleOf(samples, 'convoke_pass_duration_seconds', { pass })).toBeLessThan(60);
      expect(sampleOf(samples, 'convoke_pass_failures_total', { pass })).toBe(0);
    }
  });

  test('is one line of the doctor, with a table of every pass', async () => {
    const { config } = server;
    await reportOf({ config, clock }, haveAllSucceeded);
    const [finding, ...others] = await examineBackground(config);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ check: 'background', state: 'ok' });
    expect(finding?.text).toMatch(
      new RegExp(
        `^${expected.length} passes, all succeeded within their period; slowest: [a-z ]+, \\d+ m?s$`,
      ),
    );
    const names = finding?.details?.map((line) => line.split('  ')[0]);
    expect(names?.toSorted()).toEqual(expected.toSorted());
  });
});

describe('a pass that fails', () => {
  const secret = 'postgres://user:hunter2@db/convoke is away';

  /** The withdrawals that are due cannot be read. */
  function withoutWithdrawals(store: Store): Store {
    const fault = () => Promise.reject(new Error(`${secret}\nsecond line`));
    const read = new Proxy(store.read, {
      get: (target, name) =>
        name === 'withdrawals'
          ? { ...target.withdrawals, due: fault }
          : Reflect.get<typeof target, PropertyKey>(target, name, target),
    });
    return { ...store, read };
  }

  test('is named by the metrics and by the doctor, without secrets', async () => {
    const clock = new FakeClock();
    const server = await startServer({
      clock,
      wrapStore: withoutWithdrawals,
      expectsFaults: true,
    });
    const { config } = server;
    const pass = 'finish withdrawals';
    await eventually(async () => {
      clock.advance(1_000);
      const failures = sampleOf(await samplesOf(server), 'convoke_pass_failures_total', { pass });
      return (failures ?? 0) > 1 ? failures : undefined;
    });
    const samples = await samplesOf(server);
    expect(
      sampleOf(samples, 'convoke_pass_last_success_timestamp_seconds', { pass }),
    ).toBeUndefined();
    expect(sampleOf(samples, 'convoke_pass_failures_total', { pass: 'dispatch runs' })).toBe(0);
    await reportOf({ config, clock }, ({ passes }) =>
      passes.some((one) => one.failures_in_a_row > 1),
    );
    const findings = await examineBackground(config);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ check: 'background', state: 'fail' });
    expect(findings[0]?.text.replace(/\d+ times/, 'n times')).toBe(
      'finish withdrawals failed n times in a row: postgres://db/convoke is away ' +
        `(${alone.length - 1} other passes are well)`,
    );
    const file = await readFile(join(config.dataDir, 'passes.json'), 'utf8');
    expect(file).not.toMatch(/hunter2|second line/);
  });

  test('is recorded as well again after it succeeds', async () => {
    const clock = new FakeClock();
    const metrics = createMetrics();
    let fault: Error | undefined = new Error('away');
    const driver = drive({
      name: 'dispatch runs',
      everyMs: 1_000,
      pass: () => (fault === undefined ? Promise.resolve(false) : Promise.reject(fault)),
      clock,
      log: quietLog,
      metrics,
    });
    driver.wake();
    await eventually(async () => driver.state.failuresInARow === 1 || undefined);
    clock.advance(1_000);
    await eventually(async () => driver.state.failuresInARow === 2 || undefined);
    expect(driver.state).toMatchObject({ lastError: 'away', lastSucceededAt: null });
    fault = undefined;
    clock.advance(1_000);
    await eventually(async () => driver.state.lastSucceededAt ?? undefined);
    expect(driver.state).toMatchObject({ failuresInARow: 0, lastError: null, runningSince: null });
    expect(driver.state.lastSucceededAt).toBe(clock.now());
    await driver.stop();
  });
});

describe('the doctor', () => {
  let server: TestServer;
  beforeAll(async () => {
    const clock = new FakeClock();
    server = await startServer({ clock });
    await reportOf({ config: server.config, clock }, haveAllSucceeded);
    await server.stop();
  });
  const path = () => join(server.config.dataDir, 'passes.json');
  const stopped = async () => (await readPassReport(server.config.dataDir))?.report;

  /** Puts a report of a running server in place of the last one. */
  async function reporting(change: (report: ReportedPasses) => ReportedPasses): Promise<void> {
    const report = await stopped();
    if (report === undefined) throw new Error('no report');
    await writeFile(path(), JSON.stringify(change({ ...report, is_stopped: false })));
  }

  test('says nothing about the passes of a server that was stopped', async () => {
    expect(await stopped()).toMatchObject({ is_stopped: true });
    expect(await examineBackground(server.config)).toEqual([]);
  });

  test('names a pass that is overdue, and how long it has been running', async () => {
    await reporting((report) => ({
      ...report,
      passes: report.passes.map((pass) => ({
        ...pass,
        last_succeeded_at: report.written_at - (pass.name === 'reconcile runs' ? 600_000 : 0),
        running_since: pass.name === 'reconcile runs' ? report.written_at - 598_000 : null,
      })),
    }));
    const [finding] = await examineBackground(server.config);
    expect(finding).toMatchObject({ state: 'fail' });
    expect(finding?.text).toContain(
      'reconcile runs is overdue: due every 2 s, has not completed for 10 min, has been running for 10 min',
    );
    expect(finding?.remedy).toContain('log');
  });

  test('warns when a server stopped reporting', async () => {
    await reporting((report) => report);
    const before = new Date(Date.now() - 3_600_000);
    await utimes(path(), before, before);
    expect(await examineBackground(server.config)).toMatchObject([
      { state: 'warn', text: 'the server has not reported for 60 min' },
    ]);
  });

  test('warns about a report that cannot be read', async () => {
    await writeFile(path(), '{');
    expect(await examineBackground(server.config)).toMatchObject([{ state: 'warn' }]);
  });
});
