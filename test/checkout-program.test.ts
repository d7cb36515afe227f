import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeFolder } from './remove-folder.ts';
import { root } from './repository.ts';

const run = promisify(execFile);
const scripts = [
  'bundle-checkout.ts',
  'bundle-package.ts',
  'checkout-program.mjs',
  'compiled-modules.mjs',
  'dependencies.mjs',
  'launch.mjs',
  'node-runtime.mjs',
  'processes.mjs',
];
const bundleMs = 120_000;

/** Says which file it runs from. */
const main = `import { word } from './words.ts';

type Unused = string;
const place: Unused = import.meta.filename.includes('.cache') ? 'bundle' : 'sources';
if (process.argv[2] === 'fail') throw new Error('the stack of this is read');
if (process.argv[2] === 'serve') (await import('@convoke/server')).serve();
console.log(\`\${word} from the \${place}\`);
`;

/** Part of the bundle in a format of its own. */
const server = `import { createServer } from 'node:net';

export function serve(): void {
  throw new Error(\`the server failed, too, with \${typeof createServer}\`);
}
`;

let folder: string;
let checkout: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-checkout-'));
  checkout = join(folder, 'checkout');
  await mkdir(join(checkout, 'packages/cli/src'), { recursive: true });
  await mkdir(join(checkout, 'packages/server/src'), { recursive: true });
  await mkdir(join(checkout, 'scripts'));
  for (const name of scripts) {
    await cp(join(root, 'scripts', name), join(checkout, 'scripts', name));
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const start = `import { runCommandLine } from './scripts/checkout-program.mjs'; await runCommandLine();`;
  await writeFile(join(checkout, 'start.mjs'), start);
  await writeFile(join(checkout, 'package-lock.json'), '{}');
  await writeFile(join(checkout, 'packages/cli/package.json'), '{ "type": "module" }');
  await writeFile(join(checkout, 'packages/server/package.json'), '{ "type": "module" }');
  await writeFile(join(checkout, 'packages/server/src/index.ts'), server);
  await writeSource('main.ts', main);
  await writeSource('words.ts', `export { word } from './first.ts';\n`);
  await writeSource('first.ts', `export const word = 'hello';\n`);
  await writeSource('second.ts', `export const word = 'goodbye';\n`);
});
afterEach(() => removeFolder(folder));

test('a checkout runs from its bundle until a source changes', { timeout: bundleMs }, async () => {
  expect(await started()).toBe('hello from the sources\n');
  await bundle();
  expect(await started()).toBe('hello from the bundle\n');
  await writeSource('first.ts', `export const word = 'other';\n`);
  expect(await started()).toBe('other from the sources\n');
  await bundle();
  expect(await started()).toBe('other from the bundle\n');
});

test('a module that leaves nothing in the bundle is one of its sources', {
  timeout: bundleMs,
}, async () => {
  await bundle();
  await writeSource('words.ts', `export { word } from './second.ts';\n`);
  expect(await started()).toBe('goodbye from the sources\n');
});

test('a source of the same size and time is noticed', { timeout: bundleMs }, async () => {
  const time = new Date('2026-01-01');
  await utimes(source('first.ts'), time, time);
  await bundle();
  await writeSource('first.ts', `export const word = 'HELLO';\n`);
  await utimes(source('first.ts'), time, time);
  expect(await started()).toBe('HELLO from the sources\n');
});

test('a copy of a checkout does not run the bundle of the first', {
  timeout: bundleMs,
}, async () => {
  await bundle();
  const copy = join(folder, 'copy');
  await run('cp', ['-a', checkout, copy]);
  expect(await started(copy)).toBe('hello from the sources\n');
});

test('stacks of a bundle name the sources', { timeout: bundleMs }, async () => {
  await bundle();
  const failed = await failureOf('fail');
  expect(failed).toContain('Error: the stack of this is read');
  expect(failed).toMatch(/^ {4}at file:\S+\/checkout\/packages\/cli\/src\/main\.ts:5$/m);
  const served = await failureOf('serve');
  expect(served).toContain('Error: the server failed, too, with function');
  expect(served).toMatch(
    /^ {4}at (Module\.)?serve \(file:\S+\/checkout\/packages\/server\/src\/index\.ts:4\)$/m,
  );
});

async function failureOf(word: string): Promise<string> {
  return start(checkout, word).then(
    () => '',
    (error: unknown) => (error as { readonly stderr: string }).stderr,
  );
}

function source(name: string): string {
  return join(checkout, 'packages/cli/src', name);
}

async function writeSource(name: string, text: string): Promise<void> {
  await writeFile(source(name), text);
}

/** Sources that have just changed are not bundled, so this may take some attempts. */
async function bundle(): Promise<void> {
  const current = join(checkout, '.cache/programs/current.json');
  await removeFolder(current);
  while (!existsSync(current)) {
    await run(process.execPath, [join(checkout, 'scripts/bundle-checkout.ts')]);
  }
}

async function started(place = checkout): Promise<string> {
  return (await start(place)).stdout;
}

function start(place: string, ...words: string[]): Promise<{ stdout: string; stderr: string }> {
  return run(process.execPath, [join(place, 'start.mjs'), ...words]);
}
