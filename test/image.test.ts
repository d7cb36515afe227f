// What deploy/Dockerfile puts together starts, without Docker: its own commands are run in folders, and what they made
// is started by a user who owns none of it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../packages/server/test/support/eventually.ts';
import { type Stage, buildStages } from './dockerfile.ts';
import { freePort } from './free-port.ts';
import { removeFolder } from './remove-folder.ts';
import { root, textOf } from './repository.ts';

const buildMs = 600_000;
const otherUser = 61_000;
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: otherUser, gid: otherUser } : {};

let folder: string;
let stage: Stage;
let node: string;
let env: Record<string, string>;
let server: ChildProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-image-'));
  await chmod(folder, 0o755);
  stage = await buildStages({
    text: textOf('deploy/Dockerfile'),
    context: root,
    folder,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      npm_config_prefer_offline: 'true',
    },
  });
  // The Node of the tests may be in a folder that other users cannot read.
  node = join(folder, 'node');
  await copyFile(process.execPath, node);
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  if (isRoot) await chown(data, otherUser, otherUser);
  env = {
    ...stage.env,
    CONVOKE_HOST: '127.0.0.1',
    CONVOKE_PORT: String(await freePort()),
    CONVOKE_DATA_DIR: data,
    CONVOKE_AGENTS_DIR: join(stage.folder, stage.env['CONVOKE_AGENTS_DIR'] ?? ''),
  };
  const command = JSON.parse(stage.says.get('CMD') ?? '[]') as string[];
  const bin = join(stage.folder, 'app/packages/cli/bin/convoke.mjs');
  server = spawn(node, [bin, ...command], {
    env,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'inherit'],
    ...user,
  });
}, buildMs);
afterAll(async () => {
  server.kill('SIGKILL');
  await removeFolder(folder);
});

test('holds what production needs, and nothing else', () => {
  const has = (path: string) => existsSync(join(stage.folder, 'app', path));
  expect(has('node_modules/fastify')).toBe(true);
  expect(has('node_modules/@aws-sdk/client-s3')).toBe(true);
  expect(has('packages/server/dist/store/migrations/postgres/0001-spine.sql')).toBe(true);
  for (const path of ['typescript', 'vitest', 'rolldown', 'knip', 's3rver']) {
    expect([path, has(`node_modules/${path}`)]).toEqual([path, false]);
  }
  expect(has('packages/server/src')).toBe(false);
  expect(has('packages/server/test')).toBe(false);
});

test('starts for a user without write access to it, and its own health check succeeds', async () => {
  const check = JSON.parse(/CMD (\[.+\])$/.exec(stage.says.get('HEALTHCHECK') ?? '')?.[1] ?? '[]');
  const [, ...args] = check as string[];
  await eventually(() => {
    execFileSync(node, args, { env, stdio: 'pipe', ...user });
    return true;
  }, 60_000);
  const { status } = await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${env['CONVOKE_PORT']}/readyz`);
    return answer.ok && answer;
  });
  expect(status).toBe(200);
  expect(stage.says.get('ENTRYPOINT')).toBe('["tini", "--", "convoke"]');
});

test('exits with 0 on SIGTERM', async () => {
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
