// What people and operators do: log in by device, make a client, use it; organizations, members, tokens, keys, audit.
import { spawn } from 'node:child_process';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../../test/dev-server.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { Browser } from '../../server/test/support/sign-in/browser.ts';
import {
  type CommandLine,
  createCommandLine,
  mainPath,
  manyProcessesMs,
  ownEnvironment,
} from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

let server: DevServer;
let convoke: CommandLine;
/** Knows nothing of the development server: another folder, perhaps another machine. */
let elsewhere: CommandLine;
beforeAll(async () => {
  server = await startDevServer();
  convoke = await createCommandLine(server.place);
  elsewhere = await createCommandLine(convoke.settings);
});
afterAll(async () => {
  await elsewhere.remove();
  await convoke.remove();
  await server.stop();
});

describe('an owner', () => {
  test('gets from login to a first run in two commands, and logs out', async () => {
    const { base_url = '', owner_email = '' } = server.quickstart;
    const reset = ['admin', 'member', 'password', '--email', owner_email];
    const { one_time_password: password = '' } = await convoke.json(...reset);
    await logInAt(base_url, { email: owner_email, password });
    const saved = join(elsewhere.settings, 'convoke/config.json');
    expect((await stat(saved)).mode & 0o777).toBe(0o600);

    const made = await elsewhere.json('clients', 'create', '--name', 'Backend', '--save');
    expect(made['client_secret']).toMatch(/./);
    const { stdout, code } = await elsewhere.run(['invoke', 'echo', 'Hello']);
    expect({ stdout, code }).toEqual({ stdout: 'Hello (run 1)\n', code: 0 });

    expect((await stat(saved)).mode & 0o777).toBe(0o600);
    const shown = (await elsewhere.run(['logins', '--json'])).stdout;
    expect(shown).not.toContain(made['client_secret']);
    const { automation_client, person } = await elsewhere.json<Who>('whoami');
    expect(automation_client?.client_id).toBe(made['client_id']);
    expect(person).toMatchObject({
      base_url,
      organization_ids: [server.quickstart['organization_id']],
      memberships: [{ organization_id: server.quickstart['organization_id'], role: 'owner' }],
    });
    expect(person?.user).toMatch(/^usr_/);
    expect((await elsewhere.run(['whoami'])).stdout).toMatch(
      /^Automation client, .*\n {2}login +saved login "backend"\n[\s\S]* {2}client +oac_[\s\S]*\n\nPerson, [\s\S]*\n {2}user +usr_[\s\S]*\n {2}role +owner of /,
    );

    // Commands that start together find the login due for renewal together, and none signs the others out.
    for (const round of [1, 2]) {
      await forgetToken(saved);
      const together = await Promise.all([1, 2, 3].map(() => elsewhere.run(['clients', '--json'])));
      expect({ round, codes: together.map(({ code }) => code) }).toEqual({
        round,
        codes: [0, 0, 0],
      });
    }
    expect((await stat(saved)).mode & 0o777).toBe(0o600);

    await elsewhere.json('logout');
    expect(await readFile(saved, 'utf8')).not.toContain('refreshToken');
    expect(await elsewhere.run(['clients'])).toMatchObject({ stdout: '', code: 5 });
    expect((await elsewhere.json<Who>('whoami')).person).toBeNull();
  });

  /** As if so much time had passed that the access token has to be renewed. */
  async function forgetToken(saved: string) {
    const known = JSON.parse(await readFile(saved, 'utf8')) as { login: Record<string, unknown> };
    const login = { ...known.login, accessToken: 'over', expiresAt: 0 };
    await writeFile(saved, JSON.stringify({ ...known, login }));
  }

  async function logInAt(baseUrl: string, person: { email: string; password: string }) {
    const child = spawn(process.execPath, [mainPath, 'login', '--server', baseUrl, '--json'], {
      env: ownEnvironment(elsewhere.settings),
    });
    let [said, data] = ['', ''];
    child.stdout.on('data', (text: Buffer) => (data += text.toString()));
    const address = await new Promise<string>((resolve) => {
      child.stderr.on('data', (text: Buffer) => {
        said += text.toString();
        const [, found] = /Open (\S+)\nand confirm the code \S+\n/.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      });
    });
    const browser = new Browser();
    await browser.open(address);
    await browser.submit({});
    await browser.submit({}, { press: 'confirm' });
    await browser.submit({ ...person });
    // The operator's password is good for one time: another is asked for.
    const chosen = 'a much better password';
    await browser.submit({ chosen, repeated: chosen });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, data: JSON.parse(data) as unknown }).toEqual({
      code: 0,
      data: { base_url: baseUrl },
    });
  }

  test('manages clients and their credentials', async () => {
    const { client } = await convoke.json<{ client: { id: string } }>(
      'clients',
      'create',
      '--name',
      'Nightly',
      '--profile',
      'observe',
    );
    const { id } = client;
    const { clients } = await convoke.json<{ clients: { id: string }[] }>('clients');
    expect(clients.map((item) => item.id)).toContain(id);
    const added = await convoke.json<{ credential: { id: string } }>(
      'credentials',
      'add',
      id,
      '--label',
      'second',
    );
    const shown = await convoke.run(['clients', 'show', id.slice(0, -6)]);
    expect(shown.stdout).toMatch(/^name +Nightly$[\s\S]*^scopes +agents:read[\s\S]*cvk_…\w{4}/m);
    await convoke.json('credentials', 'revoke', id, added.credential.id);
    const { credentials } = await convoke.json<{ credentials: { status: string }[] }>(
      'credentials',
      'list',
      id,
    );
    expect(credentials.map(({ status }) => status).toSorted()).toEqual(['active', 'revoked']);
    const third = await convoke.run(['credentials', 'add', id, '--label', 'third']);
    expect(third.stdout).toMatch(/^expires +\d{4}-.* \(in 90 d\)$/m);
    expect((await convoke.json('clients', 'disable', id))['status']).toBe('disabled');
    expect((await convoke.json('clients', 'enable', id))['status']).toBe('active');
    expect(await convoke.json('clients', 'delete', id)).toMatchObject({ id });
  });

  test('is warned before the credential of a saved login is revoked', async () => {
    const create = ['clients', 'create', '--name', 'In use', '--save'];
    const { stdout: made } = await convoke.run(create);
    expect(made).toMatch(/^expires +\d{4}-.* \(in 90 d\)$/m);
    const [, client = ''] = /^client +(cli_\S+)$/m.exec(made) ?? [];
    const { credentials } = await convoke.json<{ credentials: { id: string }[] }>(
      'credentials',
      'list',
      client,
    );
    const revoked = await convoke.run(['credentials', 'revoke', client, credentials[0]?.id ?? '']);
    expect(revoked.code).toBe(0);
    expect(revoked.stderr).toContain('the saved login "in-use" uses this credential');
    await convoke.json('logins', 'remove', 'in-use');
  });

  test('manages tenants', async () => {
    const { id = '' } = await convoke.json('tenants', 'create', '--name', 'Europe');
    const { tenants } = await convoke.json<{ tenants: { id: string }[] }>('tenants');
    expect(tenants.map((item) => item.id)).toContain(id);
    expect(await convoke.json('tenants', 'show', id)).toMatchObject({ display_name: 'Europe' });
    const wrong = await convoke.run(['tenants', 'offboard', id, '--confirm', 'another']);
    expect(wrong).toMatchObject({ stdout: '', code: 1 });
    expect(await tenantOnce(id, 'active')).toMatchObject({ attachment_state: 'ready' });
    const leaving = await convoke.json('tenants', 'offboard', id, '--confirm', id);
    expect(leaving['status']).toMatch(/^offboard(ing|ed)$/);
    expect(await tenantOnce(id, 'offboarded')).toMatchObject({ attachment_state: 'detached' });
  });

  test('invites a person by a link, lists open invitations and revokes one (D-331)', async () => {
    const invite = ['members', 'invite', '--role', 'viewer', '--email', 'Bob@Acme.example'];
    const { stdout: link, stderr } = await convoke.run(invite);
    expect(link).toMatch(/^http:\/\/\S+\/console\/join#cvi_\w+\n$/);
    expect(stderr).toContain('It works once, until');
    const open = await convoke.run(['members', 'invitations']);
    expect(open.stdout).toMatch(/^INVITATION +ROLE +EXPIRES +INVITED BY +FOR\n/);
    const [id = ''] = /inv_\w+/.exec(open.stdout) ?? [];
    expect(await convoke.run(['members', 'revoke', id])).toMatchObject({
      stdout: `${id} revoked\n`,
    });
    const left = await convoke.json<{ invitations: object[] }>('members', 'invitations');
    expect(left.invitations).toEqual([]);
    expect((await convoke.run(['members'])).stdout).toMatch(/^MEMBER +ROLE +AGE +EMAIL +NAME\n/);
    const wrong = await convoke.run(['members', 'invite', '--role', 'king']);
    expect(wrong.stderr).toContain('owner, admin, operator, viewer, member');
  });

  test('gives a member another role, signs them out and removes them, by address or id (D-751)', async () => {
    const { organization_id = '' } = server.quickstart;
    const email = 'carol@acme.example';
    const added = ['admin', 'member', 'add', '--org', organization_id, '--email', email];
    await convoke.json(...added, '--role', 'viewer');
    expect(await convoke.run(['members', 'role', email, 'operator'])).toMatchObject({
      stdout: `${email} is operator now\n`,
    });
    const { members } = await convoke.json<{ members: Record<string, string>[] }>('members');
    const id = members.find((member) => member['email'] === email)?.['user_id'] ?? '';
    expect(await convoke.run(['members', 'sign-out', id])).toMatchObject({
      stdout: `${email} signed out everywhere\n`,
    });
    expect(await convoke.json('members', 'remove', email)).toMatchObject({
      user_id: id,
      removed: true,
    });
    const gone = await convoke.run(['members', 'remove', email]);
    expect(gone.code).not.toBe(0);
    const owner = members.find(({ role }) => role === 'owner')?.['user_id'] ?? '';
    const last = await convoke.run(['members', 'remove', owner]);
    expect(last.stderr).toContain('make another member owner first');
  });

  test('sets, changes, lists and deletes budgets, with amounts as people write them (D-134)', async () => {
    const set = ['budgets', 'set', 'agent', 'echo', '--period', 'day'];
    const made = await convoke.json(...set, '--max-cost', '2.50');
    expect(made).toMatchObject({ max_cost: 2_500_000, version: 1 });
    expect(await convoke.json(...set, '--max-tokens', '1000000')).toMatchObject({ version: 2 });
    const { stdout } = await convoke.run(['budgets']);
    expect(stdout).toMatch(/^BUDGET +FOR +PERIOD +TOKENS +COST +RESETS\n/);
    expect(stdout).toMatch(/agent echo +day +[\d,]+ of 1,000,000 +/);
    const wrong = await convoke.run([...set, '--max-cost', 'much']);
    expect(wrong.stderr).toContain('must be an amount such as 2.50');
    const { deleted } = await convoke.json('budgets', 'delete', made['id'] ?? '');
    expect(deleted).toBe(made['id']);
  });

  test('a budget of a tenant in money is refused while a model has no price, and stops no run', async () => {
    const { tenant_id = '' } = server.quickstart;
    const set = ['budgets', 'set', 'tenant', tenant_id, '--period', 'day'];
    const refused = await convoke.run([...set, '--max-cost', '5.00']);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/no price: .*assistant.*limit tokens instead/);
    const made = await convoke.json(...set, '--max-tokens', '2000000');
    expect(await convoke.run(['invoke', 'echo', 'still here'])).toMatchObject({ code: 0 });
    await convoke.json('budgets', 'delete', made['id'] ?? '');
  });

  test('learns who will access a new tenant, and binds clients to tenants', async () => {
    const { tenant_id = '' } = server.quickstart;
    const bind = ['clients', 'create', '--name', 'Bound', '--tenant', tenant_id];
    const { client } = await convoke.json<{ client: { id: string; tenant_ids: string[] } }>(
      ...bind,
    );
    expect(client.tenant_ids).toEqual([tenant_id]);
    const { clients } = await convoke.json<{ clients: { tenant_ids?: string[] }[] }>('clients');
    const open = clients.filter((one) => one.tenant_ids === undefined).length;
    const { stdout, stderr, code } = await convoke.run(['tenants', 'create', '--name', 'Two']);
    expect({ code, said: stderr.split(' not bound')[0] }).toEqual({
      code: 0,
      said: open === 1 ? '1 client is' : `${open} clients are`,
    });
    const [id = ''] = stdout.split(' ');
    await tenantOnce(id, 'active');
    await convoke.json('tenants', 'offboard', id, '--confirm', id);
    await convoke.json('clients', 'delete', client.id);
    const wrong = await convoke.run([...bind, 'ten_unknown']);
    expect(wrong).toMatchObject({ stdout: '', code: 1 });
    expect(wrong.stderr).toContain('ten_unknown');
  });
});

describe('an operator', () => {
  test('creates an organization with an owner, whose token manages it', async () => {
    const { organization_id = '' } = await convoke.json('admin', 'org', 'create', '--name', 'Acme');
    const email = 'ann@example.com';
    const member = ['admin', 'member', 'add', '--org', organization_id, '--email', email];
    expect(await convoke.json(...member, '--role', 'owner')).toMatchObject({ email });
    const unknown = await convoke.run([...member, '--role', 'king']);
    expect(unknown).toMatchObject({ stdout: '', code: 2 });
    const { access_token } = await convoke.json('admin', 'token', '--email', email);
    const address = `${server.quickstart['base_url']}/v1/organizations/${organization_id}/m2m`;
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await fetch(address, { headers })).status).toBe(200);

    // The token of a removed member has no access; the last owner cannot be removed.
    const remove = ['admin', 'member', 'remove', '--org', organization_id, '--email', email];
    const last = await convoke.run(remove);
    expect(last).toMatchObject({ stdout: '', code: 1 });
    expect(last.stderr).toMatch(/last owner cannot be removed .*: make another member owner first/);
    const heir = ['--email', 'heir@example.com', '--role', 'owner'];
    await convoke.json('admin', 'member', 'add', '--org', organization_id, ...heir);
    expect((await fetch(address, { headers })).status).toBe(200);
    expect(await convoke.json(...remove)).toMatchObject({ email, role: 'owner' });
    expect((await fetch(address, { headers })).status).toBe(403);
    const { rows } = await convoke.json<{ rows: { action: string; object: string }[] }>(
      'audit',
      'list',
      '--org',
      organization_id,
    );
    expect(rows.map(({ action }) => action)).toContain('member.remove');
    expect(rows[0]).toMatchObject({ action: 'access.deny' });
  });

  test('ends the tokens of a member, and issues none for longer than 30 days', async () => {
    const { organization_id = '' } = await convoke.json('admin', 'org', 'create', '--name', 'Zed');
    const who = ['--email', 'zoe@example.com'];
    const member = ['admin', 'member', 'add', '--org', organization_id, '--role', 'owner'];
    await convoke.json(...member, ...who);
    const long = await convoke.run(['admin', 'token', ...who, '--ttl', '90d']);
    expect(long).toMatchObject({ stdout: '', code: 1 });
    expect(long.stderr).toContain('at most 30 days');
    const { access_token } = await convoke.json('admin', 'token', ...who, '--ttl', '30d');
    const address = `${server.quickstart['base_url']}/v1/organizations/${organization_id}/m2m`;
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await fetch(address, { headers })).status).toBe(200);
    expect(await convoke.json('admin', 'member', 'sign-out', ...who)).toEqual({ email: who[1] });
    expect((await fetch(address, { headers })).status).toBe(401);
  });

  test('rotates and revokes keys, and the audit log is intact', async () => {
    const { kid = '' } = await convoke.json('admin', 'keys', 'rotate');
    expect(await convoke.json('admin', 'keys', 'revoke', kid)).toMatchObject({ kid });
    const { keys } = await convoke.json<{ keys: { kid: string }[] }>('admin', 'keys', 'list');
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.map((key) => key.kid)).not.toContain(kid);
    const unknown = await convoke.run(['admin', 'keys', 'revoke', kid]);
    expect(unknown).toMatchObject({ stdout: '', code: 1 });
    expect(unknown.stderr).toContain(`There is no key ${kid}`);
    const { rows } = await convoke.json<{ rows: { action: string }[] }>('audit', 'list');
    expect(rows.map(({ action }) => action)).toContain('organization.create');
    // In a terminal they are the sentences of the console, with names in place of ids.
    const { stdout } = await convoke.run(['audit', 'list']);
    expect(stdout).toMatch(/Z {2}org_\w+ #1 {2}.+ created the organization$/m);
    expect(stdout).not.toMatch(/\busr_|member\.|client\.create/);
    expect(await convoke.json('audit', 'verify')).toMatchObject({ ok: true });
  });

  test('checks the machine', async () => {
    const { ok, findings } = await convoke.json<{ ok: boolean; findings: Finding[] }>('doctor');
    expect(findings.map(({ check }) => check)).toEqual([
      'node',
      'sqlite',
      'data folder',
      'master key',
      'database',
      'agents',
      'frameworks',
      'sandbox',
      'server',
      'clock',
      'background',
    ]);
    expect(ok).toBe(true);
    const frameworks = findings.find(({ check }) => check === 'frameworks');
    expect(frameworks?.text).toMatch(/scripted.* are ready; claude is not ready: .*npm install/);
    const sandbox = findings.find(({ check }) => check === 'sandbox');
    expect(sandbox?.text).toContain('system calls filtered, no file of the server open');
    const env = { CONVOKE_AGENTS_DIR: 'nowhere', CONVOKE_DATA_DIR: 'nothing' };
    const broken = await convoke.run(['doctor'], { env });
    expect(broken.code).toBe(1);
    expect(broken.stdout).toMatch(/fail {2}agents .*\n *→ /);
    expect(broken.stdout).toMatch(/warn {2}data folder .* does not exist\n *→ the first start/);
  });
});

// Last, because the passes of the server fail while the folder is not there, and doctor reports that.
describe('a tenant that cannot be provisioned', () => {
  test('retries a tenant whose provisioning failed, after the operator fixed the cause', async () => {
    const workspaces = join(server.place, '.convoke/workspaces');
    await rename(workspaces, `${workspaces}.aside`);
    await writeFile(workspaces, 'in the way');
    const { id = '' } = await convoke.json('tenants', 'create', '--name', 'Asia');
    const { status_reason } = await tenantOnce(id, 'failed');
    expect(status_reason).toMatch(/cannot be written.*retry/);
    await rm(workspaces);
    await rename(`${workspaces}.aside`, workspaces);
    expect(await convoke.json('tenants', 'retry', id)).toMatchObject({ id });
    await tenantOnce(id, 'active');
    const again = await convoke.run(['tenants', 'retry', id]);
    expect(again).toMatchObject({ stdout: '', code: 1 });
    expect(again.stderr).toContain('tenant_not_retryable');
  });
});

function tenantOnce(id: string, status: string): Promise<Record<string, string>> {
  return eventually(async () => {
    const tenant = await convoke.json('tenants', 'show', id);
    return tenant['status'] === status && tenant;
  });
}

interface Who {
  readonly automation_client: { readonly client_id: string } | null;
  readonly person: { readonly user: string } | null;
}

interface Finding {
  readonly check: string;
  readonly text: string;
}
