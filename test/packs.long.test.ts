// What `npm pack` makes of each package installs into an empty project and works there, types too.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPackage as buildSdk } from '../packages/sdk/scripts/build-package.ts';
import { buildPackages } from '../scripts/build-package.ts';
import { publishedPackages as names } from '../scripts/published-packages.mjs';
import { oldestNode } from './oldest-node.ts';
import { removeFolder } from './remove-folder.ts';
import { root } from './repository.ts';

const installMs = 300_000;

let folder: string;
let project: string;
const packed = new Map<string, readonly string[]>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-packs-'));
  project = join(folder, 'project');
  await buildSdk(join(folder, 'sdk'));
  await buildPackages(folder);
  const tarballs = packAll();
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  run('npm', ['install', ...quiet, ...tarballs], project);
}, installMs);
afterAll(() => removeFolder(folder));

test.each(names)('%s holds no sources, no tests and no settings of the repository', (name) => {
  const allowed =
    /^(package\.json|LICENSE|THIRD-PARTY-LICENSES\.md|README\.md|bin\/convoke(-conformance)?\.mjs|.*\.(c?js|d\.ts|sql)|dist\/rehearsal\/lost-calls\.json|dist\/versions\/range\.(mjs|d\.mts)|dist\/pages\/.*\.md|docs\/[a-z0-9-]+\.md|dist\/console\/.*|dist\/python\/(launch\.sh|convoke_agent\/(\w+\.py|py\.typed|lost_calls\.json)))$/;
  const files = packed.get(name) ?? [];
  expect(files.filter((path) => !allowed.test(path) || /(^|\/)test\//.test(path))).toEqual([]);
  expect(files).toContain('package.json');
  expect(files).toContain('LICENSE');
  expect(files).toContain('README.md');
});

test('examples of the readmes work: the code of contract and faces runs, and the command line has every named command', async () => {
  await writeFile(join(project, 'contract.js'), (await examples('contract', 'js')).join('\n'));
  const said = run(process.execPath, ['contract.js'], project);
  expect(said).toMatch(/^POST \/v1\/sessions\/\S+\/runs 409\nfalse \d+\n$/);
  await writeFile(join(project, 'faces.js'), (await examples('faces', 'js')).join('\n'));
  expect(run(process.execPath, ['faces.js'], project)).toBe('begin,text\nHello\n');
  const help = run('npx', ['convoke', '--help'], project);
  const commands = (await examples('cli', 'sh')).join('').matchAll(/^npx convoke (\w+)/gm);
  const known = Array.from(commands, ([, name]) => [
    name,
    new RegExp(`^  ${name} `, 'm').test(help),
  ]);
  expect(known.length).toBeGreaterThan(2);
  for (const [name, isKnown] of known) expect([name, isKnown]).toEqual([name, true]);
});

test.each(['sdk', 'agent'] as const)(
  '%s has the guides, for coding agents that look in node_modules',
  async (name) => {
    const files = (packed.get(name) ?? []).filter((path) => path.startsWith('docs/'));
    expect(files).toContain('docs/start.md');
    expect(files).toContain('docs/agents-as-code.md');
    for (const file of files) {
      const text = await readFile(join(project, 'node_modules/@convoke', name, file), 'utf8');
      const links = Array.from(text.matchAll(/\]\(([^)#\s]+)/g), ([, target = '']) => target);
      const own = links.filter((target) => !/^https?:/.test(target));
      expect(own.filter((target) => !files.includes(`docs/${target}`))).toEqual([]);
    }
  },
);

test('the server brings its migrations, the built console and the Python kit along', () => {
  expect(packed.get('server')).toContain('dist/store/migrations/sqlite/0001-schema.sql');
  expect(packed.get('server')).toContain('dist/console/index.html');
  expect(packed.get('server')).toContain('dist/python/launch.sh');
  expect(packed.get('server')).toContain('dist/python/convoke_agent/__main__.py');
});

test.each(['server', 'cli', 'conformance'] as const)(
  '%s is a bundle, with the licenses of what is in it',
  (name) => {
    const files = packed.get(name) ?? [];
    const programs = files.filter((path) => /^dist\/(?!console\/).*\.c?js$/.test(path));
    expect(programs.length).toBeLessThan(120);
    expect(files).toContain('THIRD-PARTY-LICENSES.md');
  },
);

test('in an empty project the command line starts a server with an agent, and runs it', async () => {
  const { version } = JSON.parse(
    await readFile(join(root, 'packages/cli/package.json'), 'utf8'),
  ) as { version: string };
  expect(run('npx', ['convoke', '--version'], project).trim()).toBe(version);
  const server = spawnServer();
  try {
    await readyServer(server);
    await writeFile(join(project, 'hello.js'), helloProgram);
    expect(run(process.execPath, ['hello.js'], project)).toContain('Thank you, Captain.');
    const said = run('npx', ['convoke', 'sessions', '--json'], project);
    expect(JSON.parse(said)).toMatchObject({ sessions: [{ agent_name: 'demo' }] });
    const address = JSON.parse(await readFile(join(project, '.convoke/quickstart.json'), 'utf8'))
      .base_url as string;
    expect(await (await fetch(`${address}/docs/guides/concepts`)).text()).toContain('<h1');
    await worksOnOldNode(version);
    server.kill('SIGTERM');
    await once(server, 'exit');
  } finally {
    server.kill('SIGKILL');
  }
  const compiled = await compiledAt();
  expect(compiled.size).toBeGreaterThan(0);
  // Cached code that V8 rejects would be compiled and written again.
  const next = spawnServer();
  try {
    await readyServer(next);
    next.kill('SIGTERM');
    await once(next, 'exit');
  } finally {
    next.kill('SIGKILL');
  }
  const compiledAgain = await compiledAt();
  for (const [path, at] of compiled) expect([path, compiledAgain.get(path)]).toEqual([path, at]);
});

test('a server with S3 but without its SDK says in one line what to install', () => {
  const program = ['node_modules/convoke/bin/convoke.mjs', 'serve'];
  const env = { PATH: process.env['PATH'], CONVOKE_PORT: '0', CONVOKE_BLOBS: 's3://files' };
  const { status, stderr } = spawnSync(process.execPath, program, { cwd: project, env });
  expect(status).not.toBe(0);
  expect(String(stderr)).toMatch(
    /^.*npm install @aws-sdk\/client-s3@\S+ @aws-sdk\/lib-storage@\S+\n$/,
  );
});

function spawnServer() {
  return spawn(process.execPath, ['node_modules/convoke/bin/convoke.mjs', 'dev'], {
    cwd: project,
    env: {
      PATH: process.env['PATH'],
      CONVOKE_PORT: '0',
      XDG_CACHE_HOME: join(folder, 'cache'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function readyServer(server: ReturnType<typeof spawnServer>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('exit', () => reject(new Error('the server did not start')));
    server.stdout.on('data', (text: Buffer) => {
      if (text.includes('Agents: demo')) resolve();
    });
  });
}

/** When Node wrote each file of its compile cache. */
async function compiledAt(): Promise<Map<string, number>> {
  const cache = join(folder, 'cache/convoke/compiled');
  const entries = await readdir(cache, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    await Promise.all(files.map(async (path) => [path, (await stat(path)).mtimeMs] as const)),
  );
}

/** What `npm install convoke` gives to a person with the oldest Node that the README names. */
async function worksOnOldNode(version: string): Promise<void> {
  const node = await oldestNode();
  const convoke = (...args: string[]) => {
    const program = ['node_modules/convoke/bin/convoke.mjs', ...args];
    const env = { PATH: process.env['PATH'], XDG_CONFIG_HOME: join(folder, 'settings') };
    const { status, stdout, stderr } = spawnSync(node, program, { cwd: project, env });
    return { status, stdout: String(stdout), stderr: String(stderr) };
  };
  expect(convoke('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  expect(convoke('invoke', 'demo', 'Hello', '--json', '--help')).toMatchObject({ status: 0 });
  const { status, stdout, stderr } = convoke('agents', '--json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ agents: [{ name: 'demo' }] });
  // Saving a login takes the lock.
  const saved = convoke('clients', 'create', '--name', 'Old', '--save', '--json');
  expect({ ...saved, stdout: '' }).toMatchObject({ status: 0 });
  for (const command of ['dev', 'serve', 'doctor', 'migrate']) {
    expect(convoke(command)).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^convoke: Convoke's server needs Node 24\.18\.1 or newer; this is 20\.\d+\.\d+\. .*\n$/,
      ),
    });
  }
  const kit = ['node_modules/@convoke/conformance/bin/convoke-conformance.mjs', '--list'];
  const listed = spawnSync(node, kit, { cwd: project, encoding: 'utf8' });
  expect(listed).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^6-r2 /m) });
  const ancient = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '18.20.8' })`;
  const tooOld = ['--import', ancient, 'node_modules/convoke/bin/convoke.mjs'];
  const told = spawnSync(node, [...tooOld, 'agents'], { cwd: project, encoding: 'utf8' });
  expect(told).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^convoke: .* Node 20\.18 or newer.*; this is 18\.20\.8\..*\n$/),
  });
  const asked = spawnSync(node, [...tooOld, '--version'], { cwd: project, encoding: 'utf8' });
  expect(asked).toMatchObject({ status: 0, stdout: `${version}\n` });
}

const helloProgram = `
import { readFileSync } from 'node:fs';
import { Convoke } from '@convoke/sdk';
const known = JSON.parse(readFileSync('.convoke/quickstart.json', 'utf8'));
const convoke = new Convoke({ baseUrl: known.base_url, clientId: known.client_id, clientSecret: known.client_secret });
const run = await (await convoke.sessions.create('demo')).run('Hello');
console.log(await run.text({ onQuestion: () => 'Captain', onPermission: () => 'allow' }));
`;

test('the types of every package hold in a project that uses them', async () => {
  const code = `
    import { createDocs } from '@convoke/api-page';
    import { errors, openApiDocument } from '@convoke/contract';
    import { Convoke } from '@convoke/sdk';
    import { ConvokeChatTransport } from '@convoke/sdk/ai-sdk';
    import { openFile } from '@convoke/sdk/node';
    import { type Config, readConfig, runServer } from '@convoke/server';
    import { settingTable } from '@convoke/server/config';
    export const config: Config = readConfig({});
    export const port: number = config.port;
    export const unused = [createDocs, errors, openApiDocument, Convoke, ConvokeChatTransport, openFile, runServer, settingTable];
    // @ts-expect-error: a port is a number.
    export const wrong: string = config.port;`;
  await writeFile(join(project, 'program.ts'), code);
  await writeFile(join(project, 'server.ts'), (await examples('server', 'js')).join('\n'));
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2024',
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const config = { compilerOptions, files: ['program.ts', 'server.ts'] };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  expect(run(process.execPath, [tsc, '-p', 'tsconfig.json'], project)).toBe('');
});

/** The code blocks of a package's readme, as it was installed. */
async function examples(name: (typeof names)[number], language: string): Promise<string[]> {
  const folderOf = name === 'cli' ? 'convoke' : `@convoke/${name}`;
  const text = await readFile(join(project, 'node_modules', folderOf, 'README.md'), 'utf8');
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'));
  return Array.from(blocks, ([, code = '']) => code);
}

/** Packs all of them in one process of npm; returns the paths of the archives. */
function packAll(): string[] {
  const folders = names.map((name) => join(folder, name));
  const args = ['pack', ...folders, '--json', '--pack-destination', folder];
  const made = JSON.parse(run('npm', args, folder)) as {
    filename: string;
    files: { path: string }[];
  }[];
  return made.map(({ filename, files }, index) => {
    packed.set(
      names[index] ?? filename,
      files.map(({ path }) => path),
    );
    return join(folder, filename);
  });
}

function run(program: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
