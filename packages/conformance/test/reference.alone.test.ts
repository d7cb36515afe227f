// The kit is not bound to our server: it runs against the bare reference of the benchmark, which has sessions, runs,
// events and replay, and says exactly what that lacks.
import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../test/free-port.ts';
import { removeFolder } from '../../../test/remove-folder.ts';
import { root } from '../../../test/repository.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { idsWith, readReport, runKit } from './kit-process.ts';

const bench = 'bench-3-0-0';
const agents = `echo=${bench},ask=${bench},approve=${bench},fail=${bench},slow=bench-60-100-0`;
const failures = join(import.meta.dirname, 'reference-failures.txt');

test('another implementation is checked, with what it lacks as expected failures', {
  timeout: 300_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-conformance-'));
  onTestFinished(() => removeFolder(folder));
  const baseUrl = await startReference();
  const json = join(folder, 'report.json');
  const workspace = ['--organization-id', 'none', '--tenant-id', 'none', '--access-token', 'none'];
  const options = ['--base-url', baseUrl, '--agents', agents, '--json', json, ...workspace];
  const { status, stdout } = await runKit([...options, '--expected-failures', failures]);
  expect(status === 0 ? '' : stdout).toBe('');
  const report = await readReport(json);
  expect(report).toMatchObject({ conforming: true, stale: [] });
  // What it has, it does as the specification says.
  const passed = idsWith(report, 'pass');
  const proud = ['4.2-start-run', '4.2-events', '6-envelope', '6-r1', '6-r2', '6-r2-same', '6-r4'];
  expect(passed).toEqual(expect.arrayContaining(proud));
  expect(idsWith(report, 'not exercised')).toEqual(
    expect.arrayContaining(['8-clients', '6-history']),
  );
});

async function startReference(): Promise<string> {
  const port = await freePort();
  const program = join(root, 'bench/reference.ts');
  const args = [program, '--store', 'mem', '--port', String(port)];
  const server = spawn(process.execPath, args, { stdio: 'ignore' });
  onTestFinished(() => void server.kill('SIGKILL'));
  const baseUrl = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(baseUrl)).ok);
  return baseUrl;
}
