// The image of deploy/Dockerfile is built and started for real, by a container engine that is installed where it is
// missing.
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Convoke, ConvokeAdmin } from '@convoke/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processTree } from '../packages/server/test/faults/support/process-tree.ts';
import { eventually } from '../packages/server/test/support/eventually.ts';
import { type Container, openContainerEngine } from './container-engine.ts';
import { freePort } from './free-port.ts';
import { root, textOf } from './repository.ts';

const buildMs = 1_200_000;
const patienceMs = 120_000;
const engine = await openContainerEngine();
const problem = typeof engine === 'string' ? engine : undefined;

// It says so where it proves nothing, with the reason.
test.runIf(problem !== undefined)(`the image was not built here: ${problem}`, () => {
  expect(textOf('deploy/README.md')).toMatch(/Where\s+no\s+container\s+engine\s+works/);
});

/** Ends after two seconds: far within the time that a drain gives. */
const brief = {
  framework: 'scripted',
  script: [{ say: 'one ' }, { say: 'two' }],
};
/** Executes for two minutes, in steps that are short enough to stop between them. */
const long = {
  framework: 'scripted',
  script: [{ repeat: { times: 600, steps: [{ say: 'word ' }, { sleep_ms: 200 }] } }],
};

describe.runIf(typeof engine !== 'string')('the image', () => {
  let container: Container;
  let server: ChildProcess;
  let env: Record<string, string>;
  let baseUrl: string;
  beforeAll(async () => {
    if (typeof engine === 'string') return;
    const image = await engine.build(join(root, 'deploy/Dockerfile'), root);
    container = await engine.createContainer(image);
    for (const [name, agent] of Object.entries({ brief, long })) {
      const folder = join(container.root, 'agents', name);
      mkdirSync(folder);
      writeFileSync(join(folder, 'agent.yaml'), JSON.stringify(agent));
    }
    const port = await freePort();
    env = { CONVOKE_PORT: String(port) };
    baseUrl = `http://127.0.0.1:${port}`;
    server = container.start(env);
  }, buildMs);
  afterAll(async () => {
    for (const pid of server === undefined ? [] : processTree(server.pid ?? 0)) {
      process.kill(pid, 'SIGKILL');
    }
    if (typeof engine !== 'string') await engine.close();
  }, patienceMs);

  const admin = async (...args: string[]): Promise<Record<string, string>> =>
    JSON.parse(await container.exec(['convoke', 'admin', ...args, '--json'], env));
  /** The process that the engine would signal: the first one of the image's entry point. */
  const firstProcess = () =>
    processTree(server.pid ?? 0).find((pid) => commandOf(pid).startsWith('/usr/bin/tini\0'));

  test('holds what production needs, and nothing else', () => {
    const has = (path: string) => existsSync(join(container.root, 'app', path));
    expect(has('node_modules/fastify')).toBe(true);
    expect(has('node_modules/@aws-sdk/client-s3')).toBe(true);
    expect(has('node_modules/@ai-sdk/google')).toBe(true);
    expect(has('packages/server/dist/store/migrations/postgres/0001-schema.sql')).toBe(true);
    for (const path of ['typescript', 'vitest', 'rolldown', 'knip', 's3rver']) {
      expect([path, has(`node_modules/${path}`)]).toEqual([path, false]);
    }
    expect(has('packages/server/src')).toBe(false);
    expect(has('packages/server/test')).toBe(false);
  });

  test('has the size that deploy/README.md states', () => {
    const used = execFileSync('du', ['--summarize', '--bytes', container.root], {
      encoding: 'utf8',
    });
    const megabytes = Number(used.split('\t')[0]) / 1e6;
    const [, stated] = /takes (\d+) MB/.exec(textOf('deploy/README.md')) ?? [];
    expect(Math.abs(megabytes - Number(stated)) / megabytes, `${megabytes} MB`).toBeLessThan(0.15);
  });

  test(
    'runs as an ordinary user, and its own health check succeeds',
    async () => {
      const [kind, ...check] = container.config.Healthcheck.Test;
      expect(kind).toBe('CMD');
      await eventually(async () => (await container.exec(check, env)) === '', patienceMs);
      const status = readFileSync(`/proc/${firstProcess()}/status`, 'utf8');
      expect(/^Uid:\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1)).toEqual(['1000', '1000']);
      expect(container.config).toMatchObject({ User: 'node', StopSignal: 'SIGTERM' });
    },
    patienceMs,
  );

  test(
    'executes a run, and on SIGTERM hands one under way over before it exits with 0 (D-85)',
    async () => {
      const { organization_id: organizationId = '' } = await admin(
        'org',
        'create',
        '--name',
        'Image',
      );
      const email = 'owner@example.com';
      await admin('member', 'add', '--org', organizationId, '--role', 'owner', '--email', email);
      const { access_token: token = '' } = await admin('token', '--email', email);
      const owner = new ConvokeAdmin({ baseUrl, token: () => token, organizationId });
      const tenant = await owner.tenants.create({ display_name: 'Image', mode: 'saas' });
      await eventually(
        async () => (await owner.tenants.get(tenant.id)).attachment_state === 'ready',
        patienceMs,
      );
      const { client_id, client_secret } = await owner.clients.create({
        name: 'Image',
        profile: 'invoke',
      });
      const convoke = new Convoke({ baseUrl, clientId: client_id, clientSecret: client_secret });
      const session = await convoke.sessions.create('brief');
      expect(await (await session.run('Hello')).text()).toBe('one two');

      const run = await (await convoke.sessions.create('long')).run('Hello again');
      for await (const event of run) if (event.type === 'message_delta') break;
      const ended = once(server, 'exit');
      const first = firstProcess();
      if (first !== undefined) process.kill(first, 'SIGTERM');
      expect(await ended).toEqual([0, null]);
      const query = `select status || ' ' || interrupted_by as state from runs where id = '${run.id}'`;
      const program = `console.log(new (require('node:sqlite').DatabaseSync)('/data/convoke.db').prepare("${query}").get().state)`;
      expect((await container.exec(['node', '-e', program], env)).trim()).toBe('running drained');
    },
    patienceMs,
  );
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
