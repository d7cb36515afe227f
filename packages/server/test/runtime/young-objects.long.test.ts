import { fileURLToPath } from 'node:url';
import { runRecord } from '@convoke/contract';
import { expect, onTestFinished, test } from 'vitest';
import { Caller } from '../faults/support/caller.ts';
import { createServerFolder } from '../faults/support/server-folder.ts';
import { ServerProcess } from '../faults/support/server-process.ts';
import { until } from '../support/eventually.ts';

const reportOldObjects = fileURLToPath(
  new URL('../faults/support/report-old-objects.ts', import.meta.url),
);
const callers = 8;
const measuredRuns = 1_600;

test('a run that is over is collected with the young objects', {
  timeout: 300_000,
}, async () => {
  const agents = { talker: { script: [{ say: { text: 'some words' } }] } };
  const folder = await createServerFolder({ agents });
  onTestFinished(() => folder.remove());
  const server = await ServerProcess.start(folder, { imports: [reportOldObjects] });
  onTestFinished(async () => void (await server.kill()));
  const caller = await Caller.open(folder);

  const followRuns = async (count: number): Promise<void> => {
    const { id } = await caller.openSession('talker');
    const runs = `${server.baseUrl}/v1/sessions/${id}/runs`;
    const headers = { ...caller.headers, 'content-type': 'application/json' };
    const body = JSON.stringify({ input: { prompt: 'x' } });
    for (let at = 0; at < count; at += 1) {
      const started = await fetch(runs, { method: 'POST', headers, body });
      const run = runRecord.parse(await started.json());
      const events = await fetch(`${runs}/${run.id}/events`, { headers });
      expect(await events.text()).toContain('run_completed');
    }
  };
  const allFollow = (runs: number) =>
    Promise.all(Array.from({ length: callers }, () => followRuns(runs / callers)));
  const oldBytes = async (report: number): Promise<number> => {
    server.signal('SIGUSR2');
    const line = new RegExp(`old objects, report ${report}: (\\d+) bytes`);
    const found = await until(() => line.exec(server.output) ?? undefined, { what: 'report' });
    return Number(found[1]);
  };

  await allFollow(400);
  const before = await oldBytes(1);
  await allFollow(measuredRuns);
  const bytesOfRun = ((await oldBytes(2)) - before) / measuredRuns;
  // Code that runs for the first time is among them. It was 15,000 bytes before, and 4,000 with only one plain `Map`.
  expect(bytesOfRun).toBeLessThan(2_500);
});
