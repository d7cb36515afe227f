// Every command that calls as an automation client, against a real development server, as a script uses it (issue
// of the command line: `--json` everywhere, nothing but data on standard output, stable exit codes).
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Convoke } from '@convoke/sdk';
import { describe, expect, test, vi } from 'vitest';
import { eventually } from '../../server/test/support/eventually.ts';
import { manyProcessesMs, openCommandLine, parsedLines } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const lasting = `schema: 1
name: lasting
description: Continues until it is cancelled
framework: scripted
script:
  - repeat: { times: 1000, steps: [{ sleep_ms: 500 }] }
`;

const keyless = `framework: scripted
description: Needs a key
env: { A_KEY: "\${env:NO_SUCH_KEY}" }
script: [{ say: Hello }]
`;

const typed = `framework: scripted
description: Takes a ticket
input_schema: { type: object, properties: { ticket: { type: integer } }, required: [ticket] }
script: [{ say: "Ticket {{input.ticket}}" }]
`;

const broken = 'schema: 1\nname: broken\nframework: nothing\n';

const { server, convoke } = await openCommandLine(async (place) => {
  await mkdir(join(place, 'agents/lasting'));
  await writeFile(join(place, 'agents/lasting/agent.yaml'), lasting);
  await mkdir(join(place, 'agents/keyless'));
  await writeFile(join(place, 'agents/keyless/agent.yaml'), keyless);
  await mkdir(join(place, 'agents/typed'));
  await writeFile(join(place, 'agents/typed/agent.yaml'), typed);
  await mkdir(join(place, 'agents/broken'));
  await writeFile(join(place, 'agents/broken/agent.yaml'), broken);
});

describe('a script', () => {
  test('creates a webhook, changes its secret and takes it back', async () => {
    const create = ['webhooks', 'create', 'https://192.0.2.1/hook', '--type', 'budget_reached'];
    const made = await convoke.json<{ webhook: { id: string }; secret: string }>(...create);
    const { id } = made.webhook;
    expect(made.secret).toMatch(/^whsec_/);
    const rotated = await convoke.json<{ secret: string }>('webhooks', 'rotate', id);
    expect(rotated.secret).not.toBe(made.secret);
    const disabled = await convoke.json('webhooks', 'update', id, '--disable');
    expect(disabled).toMatchObject({ status: 'disabled', types: ['budget_reached'] });
    await convoke.json('webhooks', 'delete', id);
    expect(await convoke.json('webhooks')).toEqual({ webhooks: [] });
  });

  test('plans runs, starts one now and takes the plan back', async () => {
    const plan = ['schedules', 'create', 'echo', 'Hi', '--cron', '0 9 * * 1-5', '--keep'];
    const made = await convoke.json<{ id: string }>(...plan);
    expect(made).toMatchObject({ name: 'Hi', status: 'active', session: { mode: 'keep' } });
    const { id } = made;
    expect(await convoke.json('schedules', 'pause', id)).toMatchObject({ status: 'paused' });
    const changed = await convoke.json('schedules', 'update', id, '--time-zone', 'Asia/Tokyo');
    expect(changed).toMatchObject({ time_zone: 'Asia/Tokyo', version: 3 });
    expect(await convoke.json('schedules', 'run', id)).toMatchObject({ agent_name: 'echo' });
    const { stdout } = await convoke.run(['schedules', 'show', id]);
    expect(stdout).toMatch(/cron +0 9 \* \* 1-5 \(Asia\/Tokyo\)/);
    await convoke.json('schedules', 'delete', id);
    expect(await convoke.json('schedules')).toEqual({ schedules: [] });
  });

  test('plans runs of an agent that takes no prompt', async () => {
    const plan = ['schedules', 'create', 'typed', '--cron', '0 9 * * *', '--input'];
    const { id = '', name } = await convoke.json(...plan, '{"ticket": 7}');
    expect(name).toBe('{"ticket":7}');
    const update = ['schedules', 'update', id, '--input'];
    expect(await convoke.json(...update, '{"ticket": 8}')).toMatchObject({ input: { ticket: 8 } });
    const unfit = await convoke.run([...update, '{}']);
    expect([unfit.code, unfit.stderr]).toEqual([1, expect.stringContaining('ticket is missing')]);
    const run = await convoke.json('schedules', 'run', id);
    expect(run['input']).toEqual({ ticket: 8 });
    const neither = await convoke.run(['schedules', 'create', 'typed', '--cron', '0 9 * * *']);
    expect([neither.code, neither.stderr]).toEqual([2, expect.stringContaining('--input')]);
    await convoke.json('schedules', 'delete', id);
  });

  test('finds the development server of its folder and shows the caller', async () => {
    const { client_id, organization_id } = server.quickstart;
    expect(await convoke.json('whoami')).toMatchObject({
      automation_client: { client_id, organization_id },
      person: { organization_ids: [organization_id] },
    });
    const { workspaces } = await convoke.json<{ workspaces: unknown[] }>('workspaces');
    expect(workspaces).toHaveLength(1);
    const { agents } = await convoke.json<{ agents: { name: string }[] }>('agents');
    expect(agents.map(({ name }) => name)).toContain('demo');
  });

  test('gets the answer and nothing else on standard output', async () => {
    const { stdout, stderr, code } = await convoke.run(['invoke', 'echo', 'Hello']);
    expect({ stdout, code }).toEqual({ stdout: 'Hello (run 1)\n', code: 0 });
    expect(stderr).toMatch(/^session sess_\w+, run run_\w+\n$/);
  });

  test('gets the events as lines of JSON, and can read them again', async () => {
    const { stdout, stderr, code } = await convoke.run(['invoke', 'echo', 'Hello', '--json']);
    const events = parsedLines(stdout);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(events.at(-1)?.type).toBe('run_completed');
    const { session_id = '', run_id = '' } = events[0] ?? {};
    const again = await convoke.run(['events', session_id, run_id, '--json']);
    expect(parsedLines(again.stdout)).toEqual(events);
    const after = events.at(-2)?.id ?? '';
    const followed = ['events', session_id, run_id, '--follow', '--json', '--after', after];
    expect(parsedLines((await convoke.run(followed)).stdout)).toEqual(events.slice(-1));
    // The service answers 204 after the last event.
    const last = [...followed.slice(0, -1), events.at(-1)?.id ?? ''];
    expect(await convoke.run(last)).toMatchObject({ stdout: '', stderr: '', code: 0 });
  });

  test('cancels a run, and the command that shows it exits with the code for that', async () => {
    const running = convoke.run(['invoke', 'lasting', 'Hello']);
    const [session, run] = await started('lasting');
    expect(await convoke.json('runs', 'cancel', session, run)).toMatchObject({ id: run });
    expect(await running).toMatchObject({ code: 4 });
    const { stdout } = await convoke.run(['runs', 'show', session, run]);
    expect(stdout).toMatch(/cancelled by +Quickstart/);
  });

  test('lists the sessions with a label', async () => {
    const labelled = await api().sessions.create('echo', { labels: { team: 'ops' } });
    const { stdout } = await convoke.run(['sessions', '--label', 'team:ops']);
    expect(stdout).toMatch(new RegExp(`^SESSION .*LABELS\\n${labelled.id} .*team:ops\\n$`));
  });

  test('reads, stops and resumes', async () => {
    const { stdout } = await convoke.run(['invoke', 'echo', 'Hello', '--json']);
    const { session_id = '', run_id = '' } = parsedLines(stdout)[0] ?? {};
    const { sessions } = await convoke.json<{ sessions: { id: string }[] }>('sessions');
    expect(sessions.map(({ id }) => id)).toContain(session_id);
    const { runs } = await convoke.json<{ runs: { id: string }[] }>('runs', session_id);
    expect(runs.map(({ id }) => id)).toEqual([run_id]);
    expect(await convoke.json('runs', 'show', session_id, run_id)).toMatchObject({
      status: 'completed',
      output_text: 'Hello (run 1)',
    });
    expect((await convoke.json('sessions', 'stop', session_id))['status']).toBe('stopped');
    expect((await convoke.json('sessions', 'resume', session_id))['status']).toBe('idle');
    expect((await convoke.json('sessions', 'show', session_id))['status']).toBe('idle');
  });

  test('creates a token that opens one session (D-196)', async () => {
    const { id } = await api().sessions.create('echo');
    const scopes = ['--scopes', 'runs:read', 'sessions:read'];
    const asked = ['sessions', 'token', id, '--end-user', 'user-7', '--expires-in', '2m'];
    const created = await convoke.json(...asked, ...scopes);
    expect(created).toMatchObject({ session_id: id, expires_in: 120 });
    expect(created['scopes']).toEqual(['sessions:read', 'runs:read']);
    const { stdout } = await convoke.run(asked);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  });

  test('completes ids from their beginning, and finds a run without its session', async () => {
    const invoke = ['invoke', 'echo', 'Hello', '--json'];
    const [{ stdout }] = await Promise.all([convoke.run(invoke), convoke.run(invoke)]);
    const { session_id = '', run_id = '' } = parsedLines(stdout)[0] ?? {};
    // The random part of an id tells two of the same millisecond apart.
    const begun = (id: string) => id.slice(0, -4);
    const [session, run, alone] = await Promise.all([
      convoke.json('sessions', 'show', begun(session_id)),
      convoke.json('runs', 'show', begun(session_id), begun(run_id)),
      convoke.json('runs', 'show', run_id),
    ]);
    expect([session['id'], run['id']]).toEqual([session_id, run_id]);
    expect(alone).toMatchObject({ id: run_id, session_id });
    const [shown, events, details, vague, unknown] = await Promise.all([
      convoke.run(['runs', 'show', begun(run_id)]),
      convoke.run(['events', begun(run_id), '--after', '1']),
      convoke.run(['sessions', 'show', session_id]),
      convoke.run(['sessions', 'show', 'sess_0']),
      convoke.run(['runs', 'show', 'run_none']),
    ]);
    expect(shown.stdout).toContain(`session  ${session_id}\n`);
    expect(shown.stdout).toMatch(/^took +.* s\nprompt +Hello\n\nHello \(run 1\)\n$/m);
    expect(events.stdout).toMatch(/^ +\d+ {2}message +Hello \(run 1\)\n +\d+ {2}run_completed\n$/m);
    expect(details.stdout).toMatch(/created +\d{4}-.* ago\)[\s\S]*RUN[\s\S]*completed .* Hello/);
    expect(vague).toMatchObject({ stdout: '', code: 2 });
    expect(vague.stderr).toMatch(/matches \d+ ids \(sess_.*type more characters/);
    expect(unknown).toMatchObject({ stdout: '', code: 1 });
    expect(unknown.stderr).toContain('there is no run_none');
  });

  test('lists runs, pending interactions and what happened over all sessions (D-253, D-112)', async () => {
    const [asked, failed] = await Promise.all([
      convoke.run(['invoke', 'demo', 'Over all', '--unattended', '--json']),
      convoke.run(['invoke', 'fail', 'Over all', '--json']),
    ]);
    const idOf = ({ stdout }: { stdout: string }) => parsedLines(stdout)[0]?.['run_id'];
    const [runs, failures, waiting, watched, mixed] = await Promise.all([
      convoke.run(['runs', '--search', 'over all', '--since', '1h']),
      convoke.json('runs', '--status', 'failed', '--agent', 'fail'),
      convoke.run(['inbox']),
      convoke.run(['watch', '--no-follow', '--type', 'run_waiting', '--type', 'run_failed']),
      convoke.run(['runs', 'sess_1', '--agent', 'fail']),
    ]);
    for (const id of [idOf(asked), idOf(failed)]) {
      expect(runs.stdout).toContain(id);
      expect(watched.stdout).toContain(id);
    }
    expect(JSON.stringify(failures)).toContain(idOf(failed));
    expect(JSON.stringify(failures)).not.toContain(idOf(asked));
    expect(waiting.stdout).toContain(idOf(asked));
    expect(watched.stdout).toMatch(/^ +\d+ {2}\d\d:\d\d:\d\d {2}run_(waiting|failed) +run_/m);
    expect(mixed).toMatchObject({ stdout: '', code: 2 });
    // Other tests answer whatever waits.
    await convoke.json('runs', 'cancel', idOf(asked) ?? '');
  });

  test('sees which agents lack a variable, and which one', async () => {
    const { stdout } = await convoke.run(['agents']);
    expect(stdout).toMatch(/^NAME +FRAMEWORK +FILES +NEEDS +DESCRIPTION$/m);
    expect(stdout).toMatch(/^keyless +scripted +no +NO_SUCH_KEY +Needs a key$/m);
    const shown = await convoke.run(['agents', 'show', 'keyless']);
    expect(shown.stdout).toMatch(/^the server lacks +NO_SUCH_KEY$/m);
  });

  test('shows an agent, and why a folder is not loaded', async () => {
    expect(await convoke.json('agents', 'show', 'demo')).toMatchObject({
      approval_required_tools: ['write_file'],
    });
    const { stdout, stderr, code } = await convoke.run(['agents', 'show', 'broken']);
    expect({ stdout, code }).toEqual({ stdout: '', code: 1 });
    expect(stderr).toMatch(/"broken" is not loaded: .*agent\.yaml:3:1: framework nothing/);
    const missing = await convoke.run(['agents', 'show', 'missing']);
    expect(missing.stderr).toMatch(/there is no agent "missing" \(agents: .*demo/);
  });

  test('chats, with one run per line', async () => {
    const { stdout, stderr, code } = await convoke.run(['chat', 'echo'], { input: 'One\n\nTwo\n' });
    expect({ stdout, code }).toEqual({ stdout: 'One (run 1)\nTwo (run 2)\n', code: 0 });
    expect(stderr).toContain('continue with: convoke chat echo --session sess_');
  });

  test('uploads a file, downloads it byte for byte, and removes it', async () => {
    const path = join(server.place, 'note.bin');
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 251));
    await writeFile(path, bytes);
    const { stdout } = await convoke.run(['invoke', 'echo', 'Hello', '--json']);
    const { session_id = '' } = parsedLines(stdout)[0] ?? {};
    const { id = '' } = await convoke.json('files', 'put', session_id, path);
    const { files } = await convoke.json<{ files: { id: string }[] }>('files', 'ls', session_id);
    expect(files.map((file) => file.id)).toEqual([id]);
    const copy = join(server.place, 'copy.bin');
    await convoke.json('files', 'get', session_id, id, '-o', copy);
    expect(await readFile(copy)).toEqual(bytes);
    await convoke.json('files', 'rm', session_id, id);
    const gone = await convoke.run(['files', 'get', session_id, id]);
    expect(gone).toMatchObject({ stdout: '', code: 1 });
  });

  test('answers pending interactions of a run', async () => {
    const running = convoke.run(['invoke', 'demo', 'Hello', '--timeout', '10m']);
    const question = await pending();
    await convoke.json('interactions', 'answer', ...question, '--answer', 'Captain');
    const approval = await pending();
    await convoke.json('interactions', 'answer', ...approval, '--allow');
    const { stdout, stderr, code } = await running;
    expect(stdout).toContain('Thank you, Captain.');
    expect(stderr).toContain(`convoke interactions answer ${question.join(' ')} --answer`);
    expect(stderr).toContain('write_file: allowed');
    expect(code).toBe(0);
  });

  test('gets the command that answers when its run waits: standard input is never read', async () => {
    const asked = await convoke.run(['invoke', 'demo', 'Hello'], { input: 'Captain\ny\n' });
    expect(asked.code).toBe(7);
    expect(asked.stdout).toContain('Hello! You said: Hello');
    const [, answer = ''] = /answer with: convoke (.*) --answer …/.exec(asked.stderr) ?? [];
    const [, session = '', run = ''] =
      /convoke events (\S+) (\S+) --follow/.exec(asked.stderr) ?? [];
    await convoke.json(...answer.split(' '), '--answer', 'Captain');
    const follow = ['events', session, run, '--follow', '--approve', 'allow', '--json'];
    const events = parsedLines((await convoke.run(follow)).stdout);
    expect(events.at(-1)?.type).toBe('run_completed');
  });

  /** The session and the key of the first pending interaction. */
  function pending(): Promise<[string, string]> {
    return eventually(async () => {
      const [id] = await started('demo');
      const { items } = await api().sessions.at(id).interactions.pending().page();
      const key = items[0]?.interaction_key;
      return key !== undefined && ([id, key] as [string, string]);
    }, manyProcessesMs);
  }

  /** The newest session with this agent and its run, once there is one. */
  function started(agent: string): Promise<[string, string]> {
    return eventually(async () => {
      const { items } = await api().sessions.list({ agent_name: agent, limit: 1 }).page();
      const runs = await items[0]?.runs.list().page();
      const run = runs?.items[0];
      return run !== undefined && ([run.sessionId, run.id] as [string, string]);
    }, manyProcessesMs);
  }

  function api(): Convoke {
    const {
      base_url: baseUrl = '',
      client_id: clientId = '',
      client_secret: clientSecret = '',
    } = server.quickstart;
    return new Convoke({ baseUrl, clientId, clientSecret });
  }
});

describe('the exit code reports', () => {
  test.each([
    ['a run that failed', ['invoke', 'fail', 'Hello'], 3, /failed: This agent always fails/],
    ['an unknown agent', ['invoke', 'missing', 'Hello'], 1, /convoke agents/],
    ['a misspelt agent', ['invoke', 'dmeo', 'Hello'], 1, /does not exist.*did you mean "demo"\?/],
    ['an unknown command', ['invok'], 2, /Did you mean invoke\?.*--help/],
    ['a missing argument', ['invoke'], 2, /missing required argument 'agent'/],
    ['a run of nothing', ['invoke', 'demo'], 2, /a prompt or --input is needed/],
    ['a wrong option', ['sessions', '--limit', '0'], 2, /whole number from 1/],
    ['an unknown option', ['agents', '--jsn'], 2, /unknown option '--jsn'.*--json/],
    ['an unknown session', ['sessions', 'show', 'sess_none'], 1, /there is no sess_none/],
    ['an unknown saved login', ['agents', '--client', 'other'], 2, /no saved login "other"/],
  ])('%s', async (...[, args, expected, message]) => {
    const { stdout, stderr, code } = await convoke.run(args);
    expect(stderr).toMatch(message);
    expect(code).toBe(expected);
    if (expected === 3) return;
    expect(stdout).toBe('');
    // One line, with what to do next.
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('an unreachable server, a wrong secret and a wrong setting', async () => {
    const env = { CONVOKE_CLIENT_ID: 'oac_x', CONVOKE_CLIENT_SECRET: 'wrong' };
    const away = { ...env, CONVOKE_BASE_URL: 'http://127.0.0.1:1' };
    const [unreachable, refused, setting, nowhere] = await Promise.all([
      convoke.run(['agents'], { env: away }),
      convoke.run(['agents'], {
        env: { ...env, CONVOKE_BASE_URL: server.quickstart['base_url'] ?? '' },
      }),
      convoke.run(['serve'], { env: { CONVOKE_PORT: 'many' } }),
      convoke.run(['whoami'], { cwd: convoke.settings }),
    ]);
    expect(unreachable).toMatchObject({ stdout: '', code: 6 });
    expect(unreachable.stderr).toMatch(
      /fetch does not connect to this port\. Is .* `npx convoke dev`/,
    );
    expect(unreachable.stderr).toContain('(CONVOKE_CLIENT_ID oac_x, http://127.0.0.1:1)');
    expect(refused).toMatchObject({ stdout: '', code: 5 });
    expect(refused.stderr).toContain(`(CONVOKE_CLIENT_ID oac_x, ${server.quickstart['base_url']})`);
    expect(setting).toMatchObject({ stdout: '', code: 2 });
    expect(setting.stderr).toContain('CONVOKE_PORT=many');
    expect(nowhere).toMatchObject({ stdout: '', code: 2 });
    expect(nowhere.stderr).toContain('convoke clients create --save');
  });
});
