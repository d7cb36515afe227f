// Which server and which login a command uses: the nearest wins, no saved secret is lost, and every failure says what
// was used.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../../test/dev-server.ts';
import { removeFolder } from '../../../test/remove-folder.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

/** Nothing answers there. */
const dead = 'http://127.0.0.1:1';

let server: DevServer;
let address: string;
/** A folder of another development server, which does not run. */
let deadFolder: string;
let empty: string;
/** In the folder of the server, with settings of its own for each test. */
let convoke: CommandLine;

beforeAll(async () => {
  server = await startDevServer();
  address = server.quickstart['base_url'] ?? '';
  empty = await mkdtemp(join(tmpdir(), 'convoke-empty-'));
  deadFolder = await mkdtemp(join(tmpdir(), 'convoke-dead-'));
  await mkdir(join(deadFolder, '.convoke'));
  const known = { ...server.quickstart, base_url: dead, organization_id: 'org_other' };
  await writeFile(join(deadFolder, '.convoke/quickstart.json'), JSON.stringify(known));
});
afterAll(async () => {
  await server.stop();
  await removeFolder(deadFolder);
  await removeFolder(empty);
});
beforeEach(async () => {
  convoke = await createCommandLine(server.place);
  return () => convoke.remove();
});

const create = ['clients', 'create', '--save', '--name'];

interface Login {
  readonly name: string;
  readonly current: boolean;
  readonly client_id: string;
}

async function logins(): Promise<readonly Login[]> {
  return (await convoke.json<{ logins: Login[] }>('logins')).logins;
}

test('a saved login is named after its client, and never overwritten unless that is requested', async () => {
  const first = await convoke.json(...create, 'My Backend');
  expect(await logins()).toMatchObject([{ name: 'my-backend', client_id: first['client_id'] }]);

  const before = (await convoke.json<{ clients: unknown[] }>('clients')).clients.length;
  const again = await convoke.run([...create, 'my backend']);
  expect(again).toMatchObject({ stdout: '', code: 2 });
  expect(again.stderr).toMatch(
    /"my-backend" is already saved, for http:.*--save <name>.*--replace/,
  );
  const after = (await convoke.json<{ clients: unknown[] }>('clients')).clients.length;
  expect(after).toBe(before);

  const other = await convoke.json('clients', 'create', '--name', 'My Backend', '--save', 'other');
  const replaced = await convoke.json(...create, 'My Backend', '--replace');
  expect(await logins()).toMatchObject([
    { name: 'my-backend', client_id: replaced['client_id'], current: true },
    { name: 'other', client_id: other['client_id'], current: false },
  ]);
});

test('a secret that cannot be saved is shown', async () => {
  const taken = join(convoke.settings, 'convoke');
  await writeFile(taken, 'a file where the folder belongs');
  const { stdout, stderr, code } = await convoke.run([...create, 'Unlucky']);
  expect(code).toBe(1);
  expect(stderr).toContain('could not be saved');
  expect(stdout).toMatch(/^client secret +cvk_\S+$/m);
});

test('the nearest login wins: flag, environment, the server of the folder, the saved login', async () => {
  const { client_id = '', client_secret = '' } = await convoke.json(...create, 'Saved');
  const used = async (cwd: string, more: Readonly<Record<string, string>> = {}) => {
    const { stdout } = await convoke.run(['whoami', '--json'], { cwd, env: more });
    return (JSON.parse(stdout) as { automation_client: Used }).automation_client;
  };
  const env = { CONVOKE_CLIENT_ID: client_id, CONVOKE_CLIENT_SECRET: client_secret };
  const [anywhere, inFolder, atHome, inEnvironment, flag] = await Promise.all([
    used(empty),
    used(deadFolder),
    used(server.place),
    used(deadFolder, { ...env, CONVOKE_BASE_URL: address }),
    convoke.run(['agents', '--client', 'saved', '--json'], { cwd: deadFolder }),
  ]);
  expect(flag.code).toBe(0);
  expect(inEnvironment).toMatchObject({
    login: `CONVOKE_CLIENT_ID ${client_id}`,
    base_url: address,
  });
  expect(inFolder).toMatchObject({ login: 'client of .convoke/quickstart.json', base_url: dead });
  // In the folder of its own server it was chosen by a person, and comes before the folder's client.
  expect(atHome).toMatchObject({ login: 'saved login "saved"', client_id });
  expect(anywhere).toMatchObject({ login: 'saved login "saved"', base_url: address });
});

interface Used {
  readonly login: string;
  readonly base_url: string;
}

test('a lone CONVOKE_BASE_URL holds, or says what is missing', async () => {
  await convoke.json(...create, 'One');
  const run = (env: Record<string, string>, ...args: string[]) =>
    convoke.run(args, { cwd: deadFolder, env });
  expect(await run({ CONVOKE_BASE_URL: `${address}/` }, 'agents', '--json')).toMatchObject({
    code: 0,
  });
  const wrong: [Record<string, string>, string[], RegExp][] = [
    [{ CONVOKE_BASE_URL: 'http://127.0.0.1:2' }, ['agents'], /no login is saved for it/],
    [
      { CONVOKE_BASE_URL: dead },
      ['agents', '--client', 'one'],
      /is for http.*but CONVOKE_BASE_URL/,
    ],
    [{ CONVOKE_BASE_URL: 'convoke.example' }, ['agents'], /is not an address/],
    [{ CONVOKE_CLIENT_ID: 'oac_x' }, ['agents'], /must be set together/],
  ];
  const check = async ([env, args, message]: (typeof wrong)[number]) => {
    const { stdout, stderr, code } = await run(env, ...args);
    expect({ args, stdout, code }).toEqual({ args, stdout: '', code: 2 });
    expect(stderr).toMatch(message);
  };
  await Promise.all(wrong.map(check));
  const person = await run({ CONVOKE_BASE_URL: 'http://127.0.0.1:2' }, 'clients');
  expect(person).toMatchObject({ stdout: '', code: 5 });
  expect(person.stderr).toContain('convoke login --server http://127.0.0.1:2');
  const login = await run({ CONVOKE_BASE_URL: 'http://127.0.0.1:2' }, 'login');
  expect(login).toMatchObject({ stdout: '', code: 6 });
  expect(login.stderr).toContain('cannot reach http://127.0.0.1:2/');
  await convoke.json(...create, 'Two');
  await convoke.json('logins', 'remove', 'two');
  expect(await run({ CONVOKE_BASE_URL: address }, 'agents', '--json')).toMatchObject({ code: 0 });
});

test('logins are listed, selected and removed, and a selection without effect says so', async () => {
  const made = await convoke.json(...create, 'First');
  await convoke.json(...create, 'Second');
  const { stdout } = await convoke.run(['logins']);
  expect(stdout).toMatch(/^second +yes +http/m);
  expect(stdout).not.toContain(made['client_secret']);
  const used = await convoke.run(['logins', 'use', 'first'], { cwd: deadFolder });
  expect(used).toMatchObject({ stdout: 'using "first"\n', code: 0 });
  expect(used.stderr).toMatch(
    /client of \.convoke\/quickstart\.json \(http:\/\/127\.0\.0\.1:1\) takes precedence here; use --client first/,
  );
  const tenant = server.quickstart['tenant_id'] ?? '';
  expect(await convoke.json('logins', 'use', '--tenant', tenant)).toMatchObject({
    name: 'first',
    tenant_id: tenant,
  });
  await convoke.json('logins', 'remove', 'first');
  expect((await logins()).map(({ name }) => name)).toEqual(['second']);
  const unknown = await convoke.run(['logins', 'use', 'first']);
  expect(unknown).toMatchObject({ stdout: '', code: 2 });
  expect(unknown.stderr).toContain('no saved login "first"');
});

test('whoami says what is used even when the server does not answer', async () => {
  const { stdout, stderr, code } = await convoke.run(['whoami'], { cwd: deadFolder });
  expect(code).toBe(6);
  expect(stdout).toMatch(
    /^Automation client, .*\n {2}login +client of \.convoke\/quickstart\.json\n {2}server +http:\/\/127\.0\.0\.1:1\n/,
  );
  expect(stdout).toMatch(/\nPerson, .*\n {2}login +owner of \.convoke\/quickstart\.json\n/);
  expect(stderr).toMatch(/\(client of \.convoke\/quickstart\.json, http:\/\/127\.0\.0\.1:1\)\n$/);
});

test('a refused login is named with its server', async () => {
  await convoke.json(...create, 'Stale');
  const { clients } = await convoke.json<{ clients: { id: string; name: string }[] }>('clients');
  const { id = '' } = clients.find(({ name }) => name === 'Stale') ?? {};
  await convoke.json('clients', 'delete', id);
  const { stderr, code } = await convoke.run(['agents'], { cwd: empty });
  expect(code).toBe(5);
  expect(stderr).toMatch(/convoke logins.*\(saved login "stale", http:\/\/127\.0\.0\.1:\d+\)\n$/);
});
