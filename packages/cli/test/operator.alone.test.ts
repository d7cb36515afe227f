// An operator's commands beside a server that is at work on the same database, and on one that was tampered with.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { mainPath, manyProcessesMs, openCommandLine, ownEnvironment } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const { server, convoke } = await openCommandLine();

test('the start prints a link to the console, and the command prints another', async () => {
  const [, link = ''] = /^Console: (\S+)$/m.exec(server.welcome) ?? [];
  expect(server.welcome).toContain('npx convoke console');
  const { url = '' } = await convoke.json('console');
  const { base_url = '' } = server.quickstart;
  const press = (address: string) =>
    fetch(address, { method: 'POST', headers: { origin: base_url }, redirect: 'manual' });
  for (const address of [link, url]) {
    expect(address.startsWith(`${base_url}/oidc/link/`)).toBe(true);
    const answer = await press(address);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/']);
  }
  expect((await press(link)).status).toBe(400);
});

test('the start says how its owner gets a password, and the command works', async () => {
  const { owner_email: email = '' } = server.quickstart;
  const [, command = ''] = /^Password of \S+: npx convoke (.*)$/m.exec(server.welcome) ?? [];
  expect(command).toBe(`admin member password --email ${email}`);
  const { one_time_password } = await convoke.json(...command.split(' '));
  expect(one_time_password).toMatch(/^[a-z2-9]{4}(-[a-z2-9]{4}){4}$/);
});

test('members are listed and added without naming the only organization', async () => {
  const { owner_email: owner = '', organization_id: only = '' } = server.quickstart;
  const email = 'bob@example.com';
  const added = await convoke.json('admin', 'member', 'add', '--email', email, '--role', 'viewer');
  expect(added).toMatchObject({ organization_id: only, email, role: 'viewer' });
  const { members } = await convoke.json<{ members: Record<string, string>[] }>(
    'admin',
    'member',
    'list',
  );
  const roles = members.map((member) => [member['email'], member['role']]);
  expect(Object.fromEntries(roles)).toEqual({ [owner]: 'owner', [email]: 'viewer' });
  const removed = await convoke.json('admin', 'member', 'remove', '--email', email);
  expect(removed).toMatchObject({ organization_id: only, email });
});

test('commands work while a server writes continuously', async () => {
  const { base_url = '', organization_id = '', tenant_id = '' } = server.quickstart;
  const token = await machineToken();
  const statuses = new Map<number, number>();
  let isOver = false;
  async function write(): Promise<void> {
    while (!isOver) {
      const { status } = await fetch(`${base_url}/v1/sessions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'x-organization-id': organization_id,
          'x-tenant-id': tenant_id,
        },
        body: JSON.stringify({ agent_name: 'echo' }),
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }
  const work = Promise.all(Array.from({ length: 4 }, write));
  const { organization_id: made = '' } = await convoke.json(
    'admin',
    'org',
    'create',
    '--name',
    'A',
  );
  const email = 'ann@example.com';
  await convoke.json('admin', 'member', 'add', '--org', made, '--email', email, '--role', 'admin');
  const { access_token, expires_at } = await convoke.json(
    'admin',
    'token',
    '--email',
    email,
    '--ttl',
    '2m',
  );
  await convoke.json('admin', 'member', 'password', '--email', email);
  await convoke.json('admin', 'keys', 'rotate');
  await expect.poll(() => statuses.get(201) ?? 0).toBeGreaterThan(100);
  isOver = true;
  await work;
  expect([...statuses.keys()].filter((status) => status !== 201 && status !== 429)).toEqual([]);
  expect(new Date(expires_at ?? '').getTime()).toBeLessThanOrEqual(Date.now() + 120_000);
  const headers = { authorization: `Bearer ${access_token}` };
  const answer = await fetch(`${base_url}/v1/organizations/${made}/tenants`, { headers });
  expect(answer.status).toBe(200);
  const { rows } = await convoke.json<{ rows: Row[] }>('audit', 'list', '--org', made);
  expect(rows.map(({ action, actor }) => [action, actor.kind])).toEqual([
    ['member.password', 'operator'],
    ['token.issue', 'operator'],
    ['member.add', 'operator'],
    ['organization.create', 'operator'],
  ]);
  expect(JSON.stringify(rows)).not.toContain(access_token);
});

async function machineToken(): Promise<string> {
  const { base_url = '', client_id = '', client_secret = '' } = server.quickstart;
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  const body = new URLSearchParams(form);
  const answer = await fetch(`${base_url}/v1/oauth/token`, { method: 'POST', body });
  return ((await answer.json()) as { access_token: string }).access_token;
}

interface Row {
  readonly action: string;
  readonly actor: { readonly kind: string };
}

test('a server says where it listens and which address clients use', async () => {
  const env = {
    ...ownEnvironment(convoke.settings),
    CONVOKE_PORT: '0',
    CONVOKE_BASE_URL: 'https://convoke.example',
    CONVOKE_DATA_DIR: join(server.place, 'behind-a-proxy'),
  };
  const child = spawn(process.execPath, [mainPath, 'serve'], { cwd: server.place, env });
  try {
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    const [, address] =
      /^listening on (127\.0\.0\.1:\d+), clients use https:\/\/convoke\.example\n/.exec(
        said.toString(),
      ) ?? [];
    expect(address).toBeDefined();
    expect((await fetch(`http://${address}/healthz`)).status).toBe(200);
  } finally {
    child.kill('SIGKILL');
  }
});

test('a port in use is explained, with the setting that changes it', async () => {
  const { port } = new URL(server.quickstart['base_url'] ?? '');
  const env = { CONVOKE_PORT: port, CONVOKE_DATA_DIR: join(server.place, 'another') };
  const { stdout, stderr, code } = await convoke.run(['serve'], { env });
  expect({ stdout, code }).toEqual({ stdout: '', code: 1 });
  expect(stderr).toMatch(`convoke: port ${port} on 127.0.0.1 is already in use`);
  expect(stderr).toMatch(/ or choose another with CONVOKE_PORT\n$/);
});

test('an error is one line, with an exit code for scripts', async () => {
  const wrong: [string[], string][] = [
    [['admin', 'member', 'add', '--org', 'org_x', '--email', 'a@b.c', '--role', 'owner'], 'org_x'],
    [['admin', 'token', '--email', 'nobody@example.com'], 'nobody@example.com'],
    [['admin', 'token', '--email', 'a@b.c', '--ttl', 'soon'], '15m'],
    [['admin', 'org', 'create', '--name', ' '], 'printable'],
  ];
  // The test above created a second organization.
  wrong.push([['admin', 'member', 'list'], 'name it with --org']);
  for (const [args, hint] of wrong) {
    const { stdout, stderr, code } = await convoke.run(args);
    expect([stdout, code === 0]).toEqual(['', false]);
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
    expect(stderr).toContain(hint);
  }
  const short = await convoke.run(
    ['admin', 'member', 'password', '--email', 'owner@convoke.local', '--stdin'],
    { input: 'short\n' },
  );
  expect(short).toMatchObject({ stdout: '', code: 1 });
  expect(short.stderr).toContain('12 to 256 characters');
});

test('a changed audit log is detected, with the row', async () => {
  expect((await convoke.run(['audit', 'verify'])).code).toBe(0);
  const database = new DatabaseSync(join(server.place, '.convoke/convoke.db'), { timeout: 5_000 });
  database.exec('update audit_heads set seal = null');
  expect((await convoke.run(['audit', 'verify'])).stdout).toContain('ends a chain without a seal');
  expect((await convoke.run(['audit', 'seal'])).stdout).toMatch(/^org_\w+: sealed at row \d+$/m);
  expect((await convoke.run(['audit', 'seal'])).stdout).toContain('Every chain has a valid seal.');
  expect((await convoke.run(['audit', 'verify'])).code).toBe(0);
  database.exec('drop trigger audit_rows_stay');
  database.exec(
    "update audit_rows set actor_id = 'usr_other' where seq = 2 and action = 'member.add'",
  );
  database.close();
  const found = await convoke.run(['audit', 'verify', '--json']);
  expect(found.code).toBe(1);
  const { ok, chains } = JSON.parse(found.stdout) as { ok: boolean; chains: Chain[] };
  expect(ok).toBe(false);
  expect(
    chains.filter(({ problem }) => problem !== undefined).map(({ problem }) => problem),
  ).toEqual(
    chains
      .filter(({ organization_id }) => organization_id !== 'deployment')
      .map(() => ({ seq: 2, reason: 'changed after it was written' })),
  );
});

interface Chain {
  readonly organization_id: string;
  readonly problem?: { readonly seq: number; readonly reason: string };
}
