import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { downloadMs, oldestNode } from '../../../test/oldest-node.ts';
import { removeFolder } from '../../../test/remove-folder.ts';
import { buildPackage } from '../scripts/build-package.ts';
import { type ConvokeServer, startConvoke } from './convoke-server.ts';

const root = join(import.meta.dirname, '../../..');
const maxBytes = 15_000;

let folder: string;
let packed: { readonly files: readonly { readonly path: string }[]; readonly filename: string };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-sdk-pack-'));
  await buildPackage(join(folder, 'build'));
  const args = ['pack', join(folder, 'build'), '--json', '--pack-destination', folder];
  [packed] = JSON.parse(run('npm', args, folder));
  await mkdir(join(folder, 'project'));
  await writeFile(join(folder, 'project/package.json'), '{ "type": "module", "private": true }');
  const tarball = join(folder, packed.filename);
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], join(folder, 'project'));
});
afterAll(() => removeFolder(folder));

describe('the published package', () => {
  test('is JavaScript with declarations, a manifest, a README and the license, and nothing else', () => {
    const others = packed.files
      .map(({ path }) => path)
      .filter((path) => !/^([a-z]+\/|faces\/[a-z0-9-]+\/)?[a-z-]+(\.d\.ts|\.js)$/.test(path));
    expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json']);
  });

  test('depends on nothing', async () => {
    const manifest = JSON.parse(await readFile(join(folder, 'build/package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('private');
    expect(manifest).toMatchObject({ name: '@convoke/sdk', sideEffects: false });
  });

  test('imports nothing of Node except in its node entry', async () => {
    const core = packed.files
      .map(({ path }) => path)
      .filter((path) => /^(?!node\.).*s$/.test(path));
    const texts = await Promise.all(
      core.map((path) => readFile(join(folder, 'build', path), 'utf8')),
    );
    const imported = texts.flatMap((text) => [...text.matchAll(/(?:from|import\() ?'([^']*)'/g)]);
    expect(imported.length).toBeGreaterThan(50);
    expect(imported.map(([, name]) => name).filter((name) => !/^\.\.?\//.test(name ?? ''))).toEqual(
      [],
    );
  });

  test('is under 15 KB, minified and compressed, with everything in it', async () => {
    expect(await bundledBytes('*')).toBeLessThan(maxBytes);
  });

  test('is tree-shakable', async () => {
    expect(await bundledBytes('{ ConvokeAdmin }')).toBeLessThan(maxBytes / 3);
    expect(await bundledBytes('{ NotFoundError }')).toBeLessThan(500);
  });
});

describe('in an empty project', () => {
  let server: ConvokeServer;
  beforeAll(async () => {
    server = await startConvoke();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each([
    ['this Node', () => process.execPath],
    ['the oldest Node that the README names', oldestNode],
  ])(
    'it works with %s',
    async (_which, find) => {
      const node = await find();
      const { base_url, client_id, client_secret } = server.quickstart;
      const program = `
      import { writeFile } from 'node:fs/promises';
      import { Convoke, NotFoundError } from '@convoke/sdk';
      import { openFile } from '@convoke/sdk/node';
      const convoke = new Convoke(${JSON.stringify({ baseUrl: base_url, clientId: client_id, clientSecret: client_secret })});
      const session = await convoke.sessions.create('echo');
      await writeFile('note.txt', 'Hello');
      const file = await session.files.upload(await openFile('note.txt'), { onProgress() {} });
      const run = await session.run('Hello', { files: [file.id] });
      const missing = await session.runs.get('run_none').catch((error) => error);
      console.log(await run.text(), missing instanceof NotFoundError);`;
      await writeFile(join(folder, 'project/program.js'), program);
      expect(run(node, ['program.js'], join(folder, 'project'))).toBe('Hello (run 1) true\n');
    },
    downloadMs,
  );

  test.each([
    ['a browser', { lib: ['es2022', 'dom'], types: [] }, ''],
    ['Node', { lib: ['es2023'], types: ['node'] }, `import { openFile } from '@convoke/sdk/node';`],
  ])('its types hold for %s', async (_where, options, more) => {
    const project = join(folder, 'project');
    const code = `
      import { Convoke, type RunEvent } from '@convoke/sdk';
      ${more}
      const convoke = new Convoke({ baseUrl: 'https://convoke.example', token: 'a' });
      export async function text(event: RunEvent): Promise<string> {
        const session = await convoke.sessions.create('demo');
        ${more === '' ? '' : `await session.files.upload(await openFile('a'));`}
        const status: 'completed' | 'failed' | string = (await session.runs.at('a').read()).status;
        return event.type === 'message_delta' ? event.data.text : status;
      }`;
    await writeFile(join(project, 'program.ts'), code);
    await mkdir(join(project, 'node_modules/@types'), { recursive: true });
    const nodeTypes = join(project, 'node_modules/@types/node');
    if (!existsSync(nodeTypes)) await symlink(join(root, 'node_modules/@types/node'), nodeTypes);
    const compilerOptions = {
      ...options,
      strict: true,
      exactOptionalPropertyTypes: true,
      module: 'nodenext',
      target: 'es2022',
      noEmit: true,
      // Checks the declarations of the SDK too; those of Node are not ours to check.
      skipLibCheck: options.types.length > 0,
    };
    const config = { compilerOptions, files: ['program.ts'] };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
    expect(run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], project)).toBe(
      '',
    );
  });
});

async function bundledBytes(names: string): Promise<number> {
  const code = `export ${names} from ${JSON.stringify(join(folder, 'build/index.js'))};`;
  const bundle = await rolldown({
    input: 'entry',
    platform: 'browser',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : undefined),
        load: (id) => (id === 'entry' ? code : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  expect(output).toHaveLength(1);
  return gzipSync(output[0].code).length;
}

function run(program: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
