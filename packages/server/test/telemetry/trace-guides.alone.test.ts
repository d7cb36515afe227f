// The pages about backends as a reader follows them, before a receiver that answers as these backends do (D-586).
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { programPath } from '../../../../test/bundled-programs.ts';
import { compileCache } from '../../../../test/compile-cache.ts';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { textOf } from '../../../../test/repository.ts';
import { Caller } from '../faults/support/caller.ts';
import { createServerFolder, readQuickstart } from '../faults/support/server-folder.ts';
import { ServerProcess } from '../faults/support/server-process.ts';
import { eventually } from '../support/eventually.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { SpanReceiver } from './span-receiver.ts';

const run = promisify(execFile);
const cli = programPath('convoke');
/** Without the settings of the machine, which bash reads where its input is a socket, as for a remote login. */
const strict = ['--norc', '-euo', 'pipefail', '-c'];
const model = await startModelServer();
afterAll(() => model.close());

const agents = {
  echo: { script: [{ say: '{{prompt}}' }] },
  worker: {
    framework: 'ai-sdk',
    model: 'openai-compatible/scripted',
    env: { BASE_URL: `${model.url}/v1` },
    tools: ['list_files'],
  },
};

interface Guide {
  readonly page: string;
  /** Of the backend, as the page has it. */
  readonly address: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the process, not of a span. */
  readonly resource: Readonly<Record<string, string>>;
}

const guides: readonly Guide[] = [
  {
    page: 'docs/guides/langfuse.md',
    address: 'https://cloud.langfuse.com',
    path: '/api/public/otel/v1/traces',
    headers: {
      authorization: `Basic ${btoa('pk-lf-test:sk-lf-test')}`,
      'x-langfuse-ingestion-version': '4',
    },
    resource: {},
  },
  {
    page: 'docs/guides/phoenix.md',
    address: 'http://127.0.0.1:6006',
    path: '/v1/traces',
    headers: { authorization: 'Bearer test' },
    resource: { 'openinference.project.name': 'convoke' },
  },
];

/** The scripts of a page, in which the backend is the receiver and each key is `test`. */
function scriptsOf({ page, address }: Guide, receiver: SpanReceiver): string[] {
  const blocks = Array.from(
    textOf(page).matchAll(/^```sh run\n(.*?)^```/gms),
    ([, text = '']) => text,
  );
  return blocks.map((text) => text.replaceAll(address, receiver.url).replaceAll('…', 'test'));
}

/** What a script has set when it starts the server, which is its last command. */
async function settingsOf(script: string): Promise<Record<string, string>> {
  const shell = 'npx() { echo "$@" >&2; env -0; }\n';
  const { stdout, stderr } = await run('bash', [...strict, shell + script]);
  expect(stderr).toBe('convoke dev\n');
  const all = stdout.split('\0').map((line) => /^(\w+)=(.*)$/s.exec(line) ?? []);
  return Object.fromEntries(
    all.flatMap(([, name = '', value = '']) =>
      /^(OTEL_|CONVOKE_)/.test(name) ? [[name, value] as const] : [],
    ),
  );
}

/** The attributes that the table of a page names. */
function attributesNamed(page: string): string[] {
  const rows = textOf(page).match(/^\|.*\|$/gm) ?? [];
  const names = rows.flatMap((row) => [...row.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)`/g)]);
  return [...new Set(names.map(([, name = '']) => name))];
}

test.each(guides)('what $page says to type sends what it says', async (guide) => {
  const receiver = await SpanReceiver.open();
  receiver.answersJson = true;
  const [starting = '', ...others] = scriptsOf(guide, receiver);
  const place = await createServerFolder({ agents });
  const folder = mkdtempSync(join(tmpdir(), 'convoke-guide-'));
  onTestFinished(() => {
    place.remove();
    removeFolderSync(folder);
  });
  const settings = { ...(await settingsOf(starting)), OTEL_BSP_SCHEDULE_DELAY: '20' };
  const server = await ServerProcess.start(place, { settings });
  onTestFinished(async () => void (await server.kill()));

  const { base_url, client_id, client_secret } = readQuickstart(place);
  const { stdout } = await run(
    'bash',
    [...strict, [`npx() { shift; node "${cli}" "$@"; }`, ...others].join('\n')],
    {
      cwd: folder,
      env: {
        ...compileCache,
        PATH: process.env['PATH'],
        XDG_CONFIG_HOME: folder,
        CONVOKE_BASE_URL: base_url,
        CONVOKE_CLIENT_ID: client_id,
        CONVOKE_CLIENT_SECRET: client_secret,
      },
    },
  );
  const traceId = /"trace_id": ?"(\w+)"/.exec(stdout)?.[1];
  const caller = await Caller.open(place);
  const { id } = await caller.openSession('worker');
  const asked = await caller.startRun(id, '@@ call list_files {} ;; say Done');
  const spans = await eventually(() => {
    const ofRun = receiver.spans.filter(({ traceId: each }) => each === traceId);
    const ofModel = receiver.of(asked.id);
    const hasRoots = [ofRun, ofModel].every((all) => all.some((each) => each.parentSpanId === ''));
    return hasRoots && [...ofRun, ...ofModel];
  });

  for (const { path, headers } of receiver.requests) {
    expect(path).toBe(guide.path);
    expect(headers).toMatchObject(guide.headers);
  }
  const [root] = spans.filter(({ attributes }) => attributes['user.id'] === 'u-17');
  expect(root?.attributes['session.id']).toMatch(/^sess_/);
  expect(root?.resource).toMatchObject(guide.resource);
  const sent = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
  const ofProcess = /^(openinference\.project|deployment\.environment)\.name$/;
  const named = attributesNamed(guide.page);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !sent.has(name) && !ofProcess.test(name))).toEqual([]);
  expect(server.output).not.toContain('could not be exported');
});

test('the first command of the page about traces is all that a collector needs', async () => {
  const receiver = await SpanReceiver.open();
  const [, command = ''] = /^```sh\n(.*?)^```/ms.exec(textOf('docs/guides/traces.md')) ?? [];
  const script = command.replace('http://127.0.0.1:4318', receiver.url);
  const shell = 'npx() { echo "$*"; echo "$OTEL_EXPORTER_OTLP_ENDPOINT"; }\n';
  const { stdout } = await run('bash', [...strict, shell + script]);
  expect(stdout.split('\n').slice(0, 2)).toEqual(['convoke serve', receiver.url]);
  const place = await createServerFolder({ agents });
  onTestFinished(() => place.remove());
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '20' };
  const server = await ServerProcess.start(place, { settings });
  onTestFinished(async () => void (await server.kill()));
  const caller = await Caller.open(place);
  const { id } = await caller.openSession('echo');
  await caller.startRun(id, 'hello');
  await eventually(() => receiver.spans.some(({ name }) => name === 'invoke_agent echo'));
  expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/v1/traces']));
});
