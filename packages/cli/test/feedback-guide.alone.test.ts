// docs/guides/feedback.md as a reader follows it, and what its export says of many runs (D-581).
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Convoke, type RunSummary } from '@convoke/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { commandsOf } from '../../../test/documented-commands.ts';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root, textOf } from '../../../test/repository.ts';
import { type ConvokeServer, clientOf, startConvoke } from '../../sdk/test/convoke-server.ts';
import { collect } from '../src/collect.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const guide = textOf('docs/guides/feedback.md');
const blockOf = (language: string) =>
  new RegExp(`^\`\`\`${language} run\\n(.*?)^\`\`\``, 'ms').exec(guide)?.[1] ?? '';

let server: ConvokeServer;
let folder: Awaited<ReturnType<typeof openProgramFolder>>;
let commandLine: CommandLine;
let convoke: Convoke;
beforeAll(async () => {
  server = await startConvoke();
  folder = await openProgramFolder(root);
  await mkdir(join(folder.path, '.convoke'));
  await writeFile(join(folder.path, '.convoke/quickstart.json'), JSON.stringify(server.quickstart));
  commandLine = await createCommandLine(folder.path);
  convoke = new Convoke(clientOf(server));
});
afterAll(async () => {
  await commandLine.remove();
  await folder[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test('the programs and commands of the guide work one after the other', async () => {
  const file = join(folder.path, 'feedback.mjs');
  await writeFile(file, blockOf('js'));
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder.path });
  expect(stdout).toContain('accuracy 0.8 client \nrating -1 end_user u-17\n');
  expect(stdout).toContain('this run: Which team is ticket 7 for?');
  const script = join(folder.path, 'feedback.py');
  await writeFile(script, blockOf('python'));
  const PYTHONPATH = join(root, 'packages/python/src');
  const env = { PATH: process.env['PATH'], PYTHONPATH, PYTHONUTF8: '1' };
  const ran = await promisify(execFile)('python3', ['-B', script], { cwd: folder.path, env });
  expect(ran.stdout).toContain('rating 1 client');
  const [newest] = await collect(convoke.runs.list({ limit: 1 }), 1);
  const scripts = commandsOf('', guide).map(({ text }) => text);
  expect(scripts).toHaveLength(6);
  const said: string[] = [];
  for (const line of scripts) {
    const args = (line.replace('run_…', newest?.id ?? '').match(/"[^"]*"|\S+/g) ?? [])
      .slice(2)
      .map((word) => word.replaceAll('"', ''));
    const written = args.indexOf('>');
    const ended = await commandLine.run(written === -1 ? args : args.slice(0, written));
    expect({ line, ...ended }).toMatchObject({ code: 0 });
    said.push(ended.stdout);
  }
  const [, listed = '', found = '', , exported = '', compared = ''] = said;
  expect(listed).toMatch(/^rating +-1 +.*Wrong team\.$/m);
  expect(found).toContain(newest?.id);
  expect(exported.trim().split('\n')).toHaveLength(2);
  expect(compared).toMatch(/^VERSION +FIRST RUN +RUNS +FAILED +TOOK \(MEDIAN\) +COST +rating$/m);
});

test('an export of 300 runs says what the API shows, newest first (D-581)', async () => {
  const session = await convoke.sessions.create('echo', { labels: { batch: 'export' } });
  for (let made = 0; made < 300; made += 1) {
    const run = await session.run(`number ${made}`);
    if (made % 10 === 0) await run.feedback.put('rating', { score: made, comment: `of ${made}` });
    await run.wait();
  }
  const { stdout, code } = await commandLine.run(['runs', 'export', '--label', 'batch:export']);
  expect(code).toBe(0);
  const lines = stdout.trim().split('\n');
  const summaries: RunSummary[] = await collect(convoke.runs.list({ label: ['batch:export'] }));
  expect(summaries).toHaveLength(300);
  const expected = await Promise.all(
    summaries.map(async ({ id }) => {
      const run = await convoke.runs.get(id);
      const { id: run_id, session_id, agent_name, status, input, output_text, labels } = run.record;
      const { created_at, started_at, ended_at, usage } = run.record;
      const feedback = await run.feedback.list();
      const shown = { run_id, session_id, agent_name, status, input, output_text, labels };
      const times = { created_at, started_at, ended_at, ...(usage && { usage }) };
      return { ...shown, ...times, calls: [], feedback };
    }),
  );
  const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const versionless = read.map(({ agent_digest: _version, trace_id: _trace, ...rest }) => rest);
  expect(versionless).toEqual(expected);
  const some = ['runs', 'export', '--feedback', 'rating', '--score-min', '290', '--limit', '5'];
  const few = await commandLine.run(some);
  expect(
    few.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toEqual([read.find(({ input }) => (input as { prompt: string }).prompt === 'number 290')]);
});
