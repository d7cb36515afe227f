// Every command that our pages tell people to type is typed here, in a copy of the checkout and on the oldest Node that
// the README names, or it is on one of the lists below with the reason why not.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../packages/cli/src/program.ts';
import { freePort } from './free-port.ts';
import { copyCheckout } from '../scripts/copy-checkout.mjs';
import { commandsOf, documentedCommands } from './documented-commands.ts';
import { downloadMs, oldestNode, prepareCheckout } from './oldest-node.ts';
import { removeFolder } from './remove-folder.ts';
import { files, root, textOf } from './repository.ts';
import { isExhaustive } from './runner/kinds.ts';

/** A build takes 20 s of a processor; other work may have it. */
const runLimitMs = 400_000;

/** Commands that are not run here, by the reason. */
const notRun: Readonly<Record<string, readonly RegExp[]>> = {
  'it is this suite, or the largest part of it': [
    /^(\w+=\S+ )?npm (test|run (check|test:\w+))( -- [\w/.-]+)?$/,
    /^CONVOKE_TEST_SEED=\d+ npx vitest run /,
  ],
  'it installs programs on the machine, or packages from the registry': [
    /^apt install /,
    /^npm (ci|install (--global|--ignore-scripts|--prefix|@anthropic-ai|openapi-fetch|ai ).*)$/,
    /^NODE_OPTIONS="--import \.\/\.otel\//,
    // In the folder of an agent whose framework is installed.
    /^npm run bundle$/,
  ],
  'it needs a container engine or a cluster; test/deploy.alone.test.ts and test/image.long.test.ts check what it reads':
    [/^docker /, /^kubectl /, /^cd deploy$/, /^cp cluster\.env\.example /],
  'it needs a key of a model': [
    /_API_KEY=… npm start$/,
    /^npx convoke (chat assistant|invoke (assistant|acp-example) .*)$/,
  ],
  'it needs an editor or an assistant that starts it; packages/cli/test/faces runs it': [
    /^npx convoke (acp|mcp)\b/,
    /^claude mcp add /,
  ],
  'it needs a person in a browser': [/^npx convoke login /],
  'packages/sdk/test/chat-example.browser.test.ts starts both, and opens the page': [
    /^CONVOKE_CORS_ORIGINS=\S+ npm start$/,
    /^node examples\/chat\/server\.mjs$/,
  ],
  'it measures for minutes; bench/bench.long.test.ts runs the parts': [
    /^node (\.\.\/\.\.\/)?scripts\/run\.mjs (bench\/)?[\w-]+\.ts/,
    /^cd bench\/peers$/,
    /^git worktree add /,
  ],
  'it names an option in a sentence, and is no command alone': [
    /^(kill -9|cp -a|git (diff -U1|log --follow|pull)|node --(trace-gc|import)|npm install)$/,
  ],
  'test/release.test.ts runs it, on copies of the files; the rest publishes': [
    /^node scripts\/release\.mjs /,
    /^git (commit|tag|push) /,
  ],
  'it records a terminal for a minute': [/^npm run picture$/],
  'the copy of the checkout stands for the clone': [/^git clone /, /^cd convoke$/],
  'test/readme.long.test.ts runs it, at a terminal': [/^npx convoke invoke (demo|payer) /],
  'packages/server/test/harness/code/guide.alone.test.ts runs the agent that the reader has written':
    [/^npx convoke (invoke|agents test) (refunds|returns)\b/],
  'packages/server/test/harness/stdio/guide.alone.test.ts runs the program that the reader has written':
    [/^npx convoke agents rehearse (cashier|invoice) /],
  'test/cluster-guide.long.test.ts runs it': [/^npx convoke export \| /],
  'it needs an empty PostgreSQL': [/ pg_(dump|restore) /, /^npx convoke serve --role api$/],
  'packages/conformance/test runs it': [
    /^npx @convoke\/conformance /,
    /^export CONVOKE_(BASE_URL|CLIENT_ID)=/,
  ],
  'packages/sdk/test/generated-client.alone.test.ts runs it': [
    /^npx openapi-typescript /,
    /^(npx tsx|node) story\.mts$/,
  ],
  'packages/cli/test/feedback-guide.alone.test.ts runs it, with the id of a run': [
    /^npx convoke feedback (put |delete )?run_…/,
  ],
  'packages/cli/test/long-work-guide.alone.test.ts runs it, with the agents that the reader has written':
    [
      /^npx convoke (agents (rehearse|test)|invoke) (onboarding|invoices|orders|planner|reviews)\b/,
      /^npx convoke runs signal run_…/,
      /^curl -s \S+\/v1\/(runs\/run_…\/signals|callbacks\/run_…\.paid\.…) /,
    ],
  'packages/cli/test/connections.alone.test.ts runs it, with a session': [
    /^npx convoke connections list --session sess_…/,
  ],
  'packages/cli/test/rules.alone.test.ts runs it, with a request of a run': [
    /^npx convoke interactions (answer|forget) SESSION KEY/,
  ],
  'packages/server/test/harness/code/typed-runs-guide.alone.test.ts runs the agent that the reader has written':
    [/^npx convoke (agents rehearse|invoke) triage /],
  'packages/cli/test/agent-types.alone.test.ts runs it, and the programs that use it': [
    /^npx convoke agents types triage /,
  ],
  'packages/sdk/test/webhook-guide.alone.test.ts runs it': [/^node receiver\.mjs$/],
};

/** Scripts, whose commands need each other, and the test that runs all of a page's. */
const scriptTests: Readonly<Record<string, string>> = {
  'README.md': 'test/readme.long.test.ts',
  'docs/guides/cluster.md': 'test/cluster-guide.long.test.ts',
  'docs/guides/connections.md': 'packages/cli/test/connections.alone.test.ts',
  'docs/guides/langfuse.md': 'packages/server/test/telemetry/trace-guides.alone.test.ts',
  'docs/guides/operate.md': 'packages/cli/test/backup.alone.test.ts',
  'docs/guides/people.md': 'test/people-guide.alone.test.ts',
  'docs/guides/phoenix.md': 'packages/server/test/telemetry/trace-guides.alone.test.ts',
  'docs/guides/rules.md': 'packages/cli/test/rules.alone.test.ts',
  'docs/guides/stdio-agents.md': 'packages/server/test/harness/stdio/guide.alone.test.ts',
  'docs/guides/use-python.md': 'packages/python/test/guide.long.test.ts',
  'docs/guides/use-the-sdk.md': 'test/documented-commands.long.test.ts',
};

/** Commands that are expected to fail: the page says so. */
const failing = /^npx convoke invoke fail /;

/** Commands that run until they are stopped, and what they say when they work. */
const untilItSays: readonly (readonly [RegExp, RegExp])[] = [
  [/^npx convoke (watch|console)$/, /\S/],
  [/^npx convoke webhooks listen /, /whsec_/],
  [/ --watch$/, /It is in note\.txt/],
  [/^curl -N /, /\S/],
  [/^npx convoke dev$/, /Convoke listens on/],
  [/npx convoke serve$/, /listening/],
];

const commands = documentedCommands();
const single = [
  ...new Set(commands.filter(({ kind }) => kind === 'command').map(({ text }) => text)),
];
const skipped = Object.values(notRun).flat();
/** In a sentence a command is often named without `npx` and with a part of its arguments. */
const named = single.filter((text) => text.startsWith('convoke '));
/** Last, what stops runs. */
const typed = single
  .filter((text) => !text.startsWith('convoke ') && !skipped.some((each) => each.test(text)))
  // The guide of the SDK, below, begins with it.
  .filter((text) => text !== 'npm run build')
  .toSorted((a, b) => Number(a.includes('budgets')) - Number(b.includes('budgets')));

let folder: string;
let checkout: string;
let env: Record<string, string>;
let server: ChildProcess;
/** What stands for the ids in the pages: `wh_…` is the last webhook that a command has shown. */
const known = new Map<string, string>();

beforeAll(async () => {
  const node = await oldestNode();
  prepareCheckout(node);
  folder = await mkdtemp(join(tmpdir(), 'convoke-commands-'));
  checkout = join(folder, 'convoke');
  await copyCheckout(checkout);
  await copyFile(
    join(root, 'node_modules/.convoke-installed'),
    join(checkout, 'node_modules/.convoke-installed'),
  );
  await mkdir(join(checkout, '.cache'));
  await symlink(join(root, '.cache/node'), join(checkout, '.cache/node'));
  env = {
    PATH: `${dirname(node)}${delimiter}${process.env['PATH']}`,
    HOME: folder,
    CHECKOUT: checkout,
    CONVOKE_PORT: String(await freePort()),
    CONVOKE_WEBHOOK_ALLOW: '127.0.0.0/8',
    npm_config_prefix: join(folder, 'global'),
    npm_config_offline: 'true',
  };
  server = start('npm start', env);
  await says(server, /Convoke listens on/);
  await learn();
}, downloadMs);

afterAll(async () => {
  await stop(server);
  await removeFolder(folder);
});

/** Makes what the pages assume: a session with a run, a client's token, a key. */
async function learn(): Promise<void> {
  const text = await readFile(join(checkout, '.convoke/quickstart.json'), 'utf8');
  const quickstart = JSON.parse(text) as Record<string, string>;
  known.set('address', quickstart['base_url'] ?? '');
  known.set('ten', quickstart['tenant_id'] ?? '');
  env = {
    ...env,
    ORGANIZATION: quickstart['organization_id'] ?? '',
    TENANT: known.get('ten') ?? '',
  };
  await run('npx convoke invoke echo "Hello" --json');
  const field = 'node -p "JSON.parse(require(\'fs\').readFileSync(0)).access_token"';
  const basic = `${quickstart['client_id']}:${quickstart['client_secret']}`;
  const request = `curl -s -u "${basic}" -d grant_type=client_credentials`;
  const token = await run(`${request} ${known.get('address')}/v1/oauth/token | ${field}`);
  env = { ...env, TOKEN: token.trim() };
}

test('the guide of the SDK leads from a build to a program in a project of its own', {
  timeout: 2 * runLimitMs,
}, async () => {
  const guide = textOf('docs/guides/use-the-sdk.md');
  const scripts = commandsOf('', guide).filter(({ kind }) => kind === 'script');
  const [program = ''] = /(?<=^```js run\n)[\s\S]*?(?=^```)/m.exec(guide) ?? [];
  const [build = '', install = '', hello = ''] = scripts.map(({ text }) => text);
  const said = await run(build);
  const told = /^ {2}npm install (\S+)$/m.exec(said)?.[1] ?? '';
  expect(existsSync(told)).toBe(true);
  await run(install);
  const project = join(folder, 'my-app');
  await writeFile(join(project, 'hello.mjs'), program);
  expect(await run(hello, project)).toContain('Thank you, Captain.');
  const { dependencies } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(['@convoke/sdk']);
});

test.each(typed)('`%s` works', { timeout: 2 * runLimitMs }, async (text) => {
  expect(await outcomeOf(text)).toBe(failing.test(text) ? 'failed' : 'worked');
});

/** Runs a command; one that does not end on its own, until it says what it should. */
async function outcomeOf(text: string): Promise<'worked' | 'failed'> {
  const command = concrete(text);
  if (text === 'npm start') return server.exitCode === null ? 'worked' : 'failed';
  if (failing.test(text))
    return run(command).then(
      () => 'worked',
      () => 'failed',
    );
  const [, expected] = untilItSays.find(([pattern]) => pattern.test(text)) ?? [];
  if (expected === undefined) return run(command).then(() => 'worked');
  const isServer = /(dev|serve)/.test(text);
  const own = { CONVOKE_DATA_DIR: join(folder, 'own'), CONVOKE_PORT: '0' };
  const child = start(command, isServer ? { ...env, ...own } : env);
  try {
    await says(child, expected, isServer ? undefined : () => run('npx convoke invoke echo "Hi"'));
    return 'worked';
  } finally {
    await stop(child);
  }
}

test.each(named)('`%s` is a command, with these options', async (text) => {
  const words = text.split(' ').slice(1);
  let command = await createProgram(words);
  while (command.commands.some((each) => each.name() === words[0])) {
    command = command.commands.find((each) => each.name() === words[0]) ?? command;
    words.shift();
  }
  const options = words.filter((word) => word.startsWith('--') && word !== '--help');
  const known = command
    .createHelp()
    .visibleOptions(command)
    .map(({ long }) => long);
  expect(known).toEqual(expect.arrayContaining(options));
  if (command.registeredArguments.length === 0) expect(words[0] ?? '--').toMatch(/^--/);
});

describe('what is not run', () => {
  test.each(Object.entries(notRun))('is on a page: %s', (_, patterns) => {
    expect(single.filter((text) => patterns.some((each) => each.test(text)))).not.toEqual([]);
  });

  test.each([
    { command: 'npm test', isItsOwn: (path: string) => !isExhaustive(path), example: 'runs' },
    { command: 'npm run test:faults', isItsOwn: isExhaustive, example: 'seats' },
  ])('every name that is given to `$command` selects a test', ({ command, isItsOwn, example }) => {
    const tests = files(/\.test\.ts$/).filter(isItsOwn);
    const pattern = new RegExp(`${command} -- (\\S+)`);
    const names = single.flatMap((text) => pattern.exec(text)?.[1] ?? []);
    expect(names).toContain(example);
    for (const name of names)
      expect([name, tests.some((path) => path.includes(name))]).toEqual([name, true]);
  });

  test('every file that is given to Node exists', () => {
    const paths = single.flatMap((text) =>
      Array.from(text.matchAll(/(?:bench|examples|scripts)\/[\w/-]+\.m?[tj]s/g), ([path]) => path),
    );
    expect(paths).toContain('bench/run.ts');
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('every script of a page is run by a test that reads the page', () => {
    const pages = new Set(commands.filter(({ kind }) => kind === 'script').map(({ page }) => page));
    expect([...pages].toSorted()).toEqual(Object.keys(scriptTests).toSorted());
    for (const [page, file] of Object.entries(scriptTests))
      expect(textOf(file)).toContain(page.split('/').at(-1));
  });
});

test('every npm script starts through the launcher, which finds a Node that can run it', () => {
  for (const path of files(/^(packages\/[^/]+\/)?package\.json$/)) {
    const { scripts = {} } = JSON.parse(textOf(path)) as { scripts?: Record<string, string> };
    for (const [name, line] of Object.entries(scripts)) {
      const program = join(dirname(path), /^node (\S+\.mjs)/.exec(line)?.[1] ?? 'no program');
      expect([name, existsSync(join(root, program))]).toEqual([name, true]);
      expect(textOf(program)).toContain('/launch.mjs');
    }
  }
});

test('commands are found in blocks, over several lines, and in sentences', () => {
  const page = [
    'Run `npm run\n  check`, not `npm`, `const a`.',
    "```sh\nnpm start   # waits\ncurl -N a \\\n  -H b\nnode -e '\n  1 # one\n' c\n```",
    '```sh run\nA=1\nnode b\n```',
    '```js\nnode c\n```',
  ].join('\n\n');
  expect(commandsOf('a.md', page).map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
    'command: npm start',
    'command: curl -N a -H b',
    "command: node -e '\n  1 # one\n' c",
    'script: A=1\nnode b\n',
    'command: npm run check',
  ]);
});

/** Puts real ids where the page has `wh_…` or a word for one. */
function concrete(text: string): string {
  const word = (name: string) => known.get(name) ?? `<no ${name} was shown>`;
  return text
    .replaceAll(/\b(ten|whd?|sch|inv)_…/g, (_, kind: string) => word(kind))
    .replaceAll(/<session>|\bSESSION\b/g, () => word('sess'))
    .replaceAll('<run>', () => word('run'))
    .replaceAll(/\brun_01m7fy30v\b/g, () => word('run').slice(0, 'run_01m7fy30v'.length))
    .replaceAll('https://example.com', 'http://127.0.0.1:9999')
    .replaceAll(/https:\/\/convoke\.example|http:\/\/127\.0\.0\.1:8787/g, () => word('address'));
}

/** `npx convoke` without the half second that npm takes to find it; test/readme.long.test.ts goes through npm. */
const npx = 'npx() { shift; node "$CHECKOUT/packages/cli/bin/convoke.mjs" "$@"; }\n';

/** Runs a command and notes the ids that it shows. */
async function run(command: string, cwd = checkout): Promise<string> {
  const options = { cwd, env, timeout: runLimitMs };
  const running = promisify(execFile)('bash', ['-euo', 'pipefail', '-c', npx + command], options);
  // Nothing is typed: a command that waits for input sees its end.
  running.child.stdin?.end();
  const { stdout } = await running;
  for (const [id, kind = ''] of stdout.matchAll(/\b(whd?|sch|inv|sess|run)_[0-9a-z]{10,}/g))
    known.set(kind, id);
  return stdout;
}

function start(command: string, environment: Record<string, string>): ChildProcess {
  return spawn('bash', ['-c', `exec ${command.replaceAll(/^((\w+=\S+ )+)/g, 'env $1')}`], {
    cwd: checkout,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Waits until a program says something. One that shows what happens says nothing until `provoke` makes it happen. */
async function says(
  child: ChildProcess,
  what: RegExp,
  provoke?: () => Promise<unknown>,
): Promise<void> {
  let said = '';
  let complained = '';
  let isOver = false;
  const heard = new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (text: Buffer) => {
      said += text.toString();
      if (what.test(said)) resolve();
    });
    child.stderr?.on('data', (text: Buffer) => {
      complained += text.toString();
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${said}${complained}`)));
  }).finally(() => {
    isOver = true;
  });
  const provoking = async () => {
    while (provoke !== undefined && !isOver) await provoke();
  };
  await Promise.all([heard, provoking()]);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
