import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { programPath } from './bundled-programs.ts';
import { compileCache } from './compile-cache.ts';
import { downloadMs, oldestNode, prepareCheckout } from './oldest-node.ts';
import { removeFolder } from './remove-folder.ts';
import { root } from './repository.ts';

const run = promisify(execFile);
const cli = programPath('convoke');

/** A place where `npx convoke serve` runs, as the guide has it. */
let place: string;
let server: ChildProcess;

beforeAll(async () => {
  prepareCheckout(await oldestNode());
  place = await mkdtemp(join(tmpdir(), 'convoke-people-'));
  await mkdir(join(place, 'agents'));
  server = spawn(process.execPath, [cli, 'serve'], {
    cwd: place,
    env: { PATH: process.env['PATH'], ...compileCache, CONVOKE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    server.once('exit', () => reject(new Error('the server did not start')));
    server.stdout?.on('data', (text: Buffer) => {
      if (text.includes('listening on')) resolve();
    });
  });
}, downloadMs);

afterAll(async () => {
  server.kill('SIGKILL');
  await removeFolder(place);
});

test('what the guide of people says to type works, on a server that runs', async () => {
  const guide = await readFile(join(root, 'docs/guides/people.md'), 'utf8');
  const blocks = Array.from(guide.matchAll(/^```sh run\n([\s\S]*?)^```/gm), (match) => match[1]);
  expect(blocks).toHaveLength(5);
  // On the oldest Node that the README names, with the command of the checkout.
  const node = await oldestNode();
  const npx = `npx() { shift; node "${join(root, 'packages/cli/bin/convoke.mjs')}" "$@"; }\n`;
  const script = npx + blocks.join('\necho "--"\n');
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: place,
    timeout: 110_000,
    env: { PATH: `${dirname(node)}${delimiter}${process.env['PATH']}` },
  });
  const [bootstrap, token, rotation, offboarding, audit] = stdout.split('--\n');
  expect(bootstrap).toMatch(/ann@acme\.example is owner of org_/);
  expect(bootstrap).toMatch(/^([a-z2-9]{4}-){4}[a-z2-9]{4}$/m);
  expect(token).toContain('observe invoke deploy custom');
  expect(rotation?.trim().split('\n')).toEqual(['Bearer', '204', 'autumn active, default revoked']);
  expect(offboarding?.trim().split('\n')).toEqual(['detached', 'offboarded']);
  expect(audit).toMatch(/offboarded tenant Acme Europe/);
  expect(audit).toMatch(/rows, intact; last hash/);
  expect(audit).toMatch(/The next key is/);
});
