import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionId } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { SandboxPlace, Sitting, allowing, denying } from '../sittings.ts';
import { agentOf, problemsWith, recordingLog } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import type { Agent } from '../../../src/domain/agent.ts';
import { acpHarness } from '../../../src/harness/acp/harness.ts';
import { readAcp } from '../../../src/harness/acp/settings.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Answer } from '../../../src/ports/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { requireSandbox } from '../../../../../test/services.ts';
import type { Step } from './agent.ts';

const program = fileURLToPath(new URL('agent.ts', import.meta.url));
const sdk = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk'));

let place: SandboxPlace;
beforeAll(async () => {
  requireSandbox();
  place = await SandboxPlace.open();
});
afterAll(() => place.close());

describe('an ACP agent', () => {
  test('streams its text with framework and model, and emits plans, thoughts and calls', async () => {
    const { sitting } = await sit({ agent: { model: 'test/one' } });
    const said = await sitting.say(
      steps(
        { think: 'hm' },
        { plan: 'first' },
        { say: 'Hello ' },
        { call: 'made.txt' },
        { say: 'you' },
      ),
    );
    expect(said.text).toBe('Hello you');
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
    expect(said.events).toContainEqual({
      type: 'message_delta',
      text: 'Hello ',
      model: 'test/one',
    });
    expect(said.custom('agent_thought_chunk')).toEqual([{ text: 'hm' }]);
    expect(said.custom('plan')).toMatchObject([{ entries: [{ content: 'first' }] }]);
    expect(said.custom('tool_call')).toMatchObject([
      { tool_call_id: 'made.txt', kind: 'execute', status: 'in_progress' },
      { tool_call_id: 'made.txt', kind: 'execute', status: 'completed' },
    ]);
  });

  test('is allowed a call that needs no approval, for that call only', async () => {
    const { sitting, made } = await sit({});
    const said = await sitting.say(steps({ call: 'made.txt', kind: 'edit' }));
    expect(said.asked).toEqual([]);
    expect(await made('made.txt')).toBe('yes-once');
  });

  test('makes a call that a person allowed, once, and none that a person refused (D-39)', async () => {
    const { sitting, made } = await sit({ agent: { approvalRequiredTools: ['exec*'] } });
    const said = await sitting.say(
      steps({ call: 'yes.txt' }, { call: 'no.txt' }, { call: 'free.txt', kind: 'edit' }),
      (asked) => (JSON.stringify(asked).includes('no.txt') ? denying : allowing(asked)),
    );
    expect(said.asked).toMatchObject([
      {
        toolName: 'execute',
        toolInput: { title: 'yes.txt', input: { command: 'yes.txt' } },
      },
      { toolName: 'execute', toolInput: { title: 'no.txt' } },
    ]);
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
    expect(await made('yes.txt')).toBe('yes-once');
    expect(await made('no.txt')).toBeUndefined();
    expect(await made('free.txt')).toBe('yes-once');
  });

  test('makes no call when a person allowed another input than the one it asked for (D-39)', async () => {
    const { sitting, made } = await sit({ agent: { approvalRequiredTools: ['*'] } });
    const said = await sitting.say(steps({ call: 'other.txt' }), () => ({
      kind: 'permission',
      allow: true,
      input: { title: 'harmless' },
    }));
    expect(said.custom('tool_refused')).toMatchObject([{ tool_call_id: 'other.txt' }]);
    expect(await made('other.txt')).toBeUndefined();
  });

  test('is refused when it offers only a permanent permission', async () => {
    const { sitting, made } = await sit({ agent: { approvalRequiredTools: ['*'] } });
    const options = [
      { optionId: 'yes-forever', name: 'Always', kind: 'allow_always' as const },
      { optionId: 'no', name: 'No', kind: 'reject_once' as const },
    ];
    await sitting.say(steps({ call: 'forever.txt', options }), allowing);
    expect(await made('forever.txt')).toBeUndefined();
  });

  test('may not use a tool that is not in its list', async () => {
    const { sitting, made } = await sit({ settings: { tools: ['read'] } });
    const said = await sitting.say(steps({ call: 'tool.txt' }));
    expect(said.custom('tool_refused')).toMatchObject([{ kind: 'execute' }]);
    expect(await made('tool.txt')).toBeUndefined();
  });

  test('is stopped when it makes a call that needs approval without asking', async () => {
    const { sitting } = await sit({ agent: { approvalRequiredTools: ['execute'] } });
    const said = await sitting.say(steps({ sneak: 'sneaked.txt' }, { hang: 'deaf' }));
    expect(said.end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(JSON.stringify(said.end)).toContain('without asking');
  });

  test('is stopped when it uses a tool that is not in its list without asking', async () => {
    const { sitting } = await sit({ settings: { tools: ['read', 'edit'] } });
    const fine = await sitting.say(steps({ sneak: 'fine.txt', kind: 'edit' }));
    expect(fine.end).toEqual({ type: 'end', outcome: 'completed' });
    const said = await sitting.say(steps({ sneak: 'sneaked.txt' }, { hang: 'deaf' }));
    expect(said.end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(JSON.stringify(said.end)).toContain('not among its tools');
  });

  test('completes its run when a refusal ends its turn, since the run was not cancelled', async () => {
    const { sitting } = await sit({
      flags: ['--fussy'],
      agent: { approvalRequiredTools: ['execute'] },
    });
    const said = await sitting.say(steps({ call: 'no.txt' }, { say: 'never' }), () => denying);
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('asks questions, one interaction each, and gets the answers in the form it defined', async () => {
    const { sitting } = await sit({});
    const colours = [
      { const: 'r', title: 'Red', description: 'as a rose' },
      { const: 'b', title: 'Blue' },
    ];
    const properties = {
      colour: { type: 'string', title: 'Colour', oneOf: colours },
      colour_custom: { type: 'string', title: 'Other' },
      sizes: {
        type: 'array',
        description: 'Which sizes?',
        items: { type: 'string', enum: ['S', 'M', 'L'] },
      },
      count: { type: 'integer', title: 'How many?' },
      sure: { type: 'boolean', title: 'Sure?' },
    };
    const answers: Record<string, readonly string[]> = {
      Colour: ['Blue'],
      'Which sizes?': ['S', 'L'],
      'How many?': ['3'],
      'Sure?': ['Yes'],
    };
    const said = await sitting.say(steps({ elicit: 'Order', properties }), (asked) => ({
      kind: 'question',
      values: (asked.type === 'user_question' && answers[asked.question]) || [],
    }));
    expect(said.asked).toMatchObject([
      {
        question: 'Colour',
        options: [{ label: 'Red', description: 'as a rose' }, { label: 'Blue' }],
      },
      {
        question: 'Which sizes?',
        multiple: true,
        options: [{ label: 'S' }, { label: 'M' }, { label: 'L' }],
      },
      { question: 'How many?' },
      { question: 'Sure?', options: [{ label: 'Yes' }, { label: 'No' }] },
    ]);
    expect(JSON.parse(said.text)).toEqual({
      action: 'accept',
      content: { colour: 'b', sizes: ['S', 'L'], count: 3, sure: true },
    });
  });

  test.each<[string, Answer, object]>([
    [
      'other words than the choices',
      { kind: 'question', values: ['Teal'] },
      { action: 'accept', content: { colour_custom: 'Teal' } },
    ],
    ['no answer', { kind: 'question', declined: true }, { action: 'decline' }],
  ])('takes %s to a question', async (_, answer, response) => {
    const { sitting } = await sit({});
    const properties = {
      colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
      colour_custom: { type: 'string' },
    };
    const said = await sitting.say(steps({ elicit: 'Which?', properties }), () => answer);
    expect(said.asked).toMatchObject([{ question: 'Which?', options: [{ label: 'Red' }] }]);
    expect(JSON.parse(said.text)).toEqual(response);
  });

  test('cannot ask questions when agent.yaml disables them', async () => {
    const { sitting } = await sit({ settings: { ask_user: false } });
    const said = await sitting.say(steps({ elicit: 'Which?', properties: {} }), allowing);
    expect(said.asked).toEqual([]);
    expect(JSON.parse(said.text)).toEqual({ action: 'cancel' });
  });
});

describe('a cancelled ACP run', () => {
  test.each<[string, Step]>([
    ['working', { hang: 'listening' }],
    ['waiting for a person', { call: 'cancelled.txt' }],
  ])(
    'ends cancelled while the agent is %s, and the process serves the next run',
    async (_, step) => {
      const { sitting, made } = await sit({ agent: { approvalRequiredTools: ['execute'] } });
      const leg = sitting.start(steps({ say: 'here' }, step));
      const said = await sitting.hear(leg, {
        onEvent: (event) => {
          const isBusy =
            event.type === 'permission_request' ||
            ('hang' in step && event.type === 'message_delta');
          if (isBusy) void sitting.cancel(leg);
        },
      });
      expect(said.end).toEqual({ type: 'end', outcome: 'cancelled' });
      expect(await made('cancelled.txt')).toBeUndefined();
      const next = await sitting.say(steps({ tell: 'history' }));
      expect(JSON.parse(next.text)).toHaveLength(1);
    },
  );

  test('kills an agent that ignores the cancel, with all its processes', async () => {
    const { sitting } = await sit({});
    const leg = sitting.start(steps({ child: true }, { hang: 'deaf' }));
    const said = await sitting.hear(leg, {
      onEvent: async (event) => {
        if (event.type !== 'message_delta') return;
        await sitting.cancel(leg);
        await leg.kill();
      },
    });
    expect(said.end).toEqual({ type: 'end', outcome: 'cancelled' });
    expect(await eventually(() => sleepers().length === 0)).toBe(true);
  });

  test.each([
    ['completed', { say: 'done' }],
    ['cancelled', { hang: 'listening' }],
    ['error', { fail: { code: -32_603, message: 'no' } }],
  ] as const)('ends the processes that the agent left running (%s)', async (...[outcome, last]) => {
    const { sitting } = await sit({});
    const leg = sitting.start(steps({ child: true }, last));
    const said = await sitting.hear(leg, {
      onEvent: async (event) => {
        if (event.type !== 'message_delta' || outcome !== 'cancelled') return;
        await eventually(() => sleepers().length === 1);
        await sitting.cancel(leg);
      },
    });
    expect(said.end).toMatchObject({ outcome });
    expect(sleepers()).toEqual([]);
    expect(said.custom('processes_ended')).toEqual([{ count: 1 }]);
    const next = await sitting.say(steps({ tell: 'history' }));
    expect(JSON.parse(next.text)).toHaveLength(1);
  });

  test('keeps track of a process that answered the cancel with an error', async () => {
    const { sitting } = await sit({});
    const leg = sitting.start(
      steps({ say: 'on it' }, { hang: 'listening' }, { fail: { code: -32_603, message: 'oops' } }),
    );
    const said = await sitting.hear(leg, {
      onEvent: (event) => event.type === 'message_delta' && sitting.cancel(leg),
    });
    expect(said.end).toEqual({ type: 'end', outcome: 'cancelled' });
    expect(sitting.harness.kept?.()).toHaveLength(1);
  });

  test('ends at once while the agent is still starting', async () => {
    const { sitting } = await sit({ flags: ['--mute'] });
    const leg = sitting.start(steps());
    const heard = sitting.hear(leg);
    await sitting.cancel(leg);
    expect((await heard).end).toEqual({ type: 'end', outcome: 'cancelled' });
  });
});

describe('the memory of an ACP agent', () => {
  test('is kept by its process between runs, and restored from its session after the process ended', async () => {
    const { sitting, harness } = await sit({});
    await sitting.say(steps({ say: 'one' }));
    expect(await pid(sitting)).toBe(await pid(sitting));
    await sitting.release();
    const restarted = sitting.movedTo(harness());
    const said = await restarted.say(steps({ tell: 'history' }));
    expect(said.text).toContain('one');
    expect(said.custom('session_lost')).toEqual([]);
  });

  test('is restored without emitting it again, also if the agent replays it', async () => {
    const { sitting, harness } = await sit({ flags: ['--load'] });
    await sitting.say(steps({ say: 'one' }));
    const said = await sitting.movedTo(harness()).say(steps({ tell: 'history' }));
    expect(said.text).not.toContain('replayed');
    expect(said.text).toContain('one');
  });

  test('is reported as lost when the agent does not have the session', async () => {
    const { sitting, harness } = await sit({ flags: ['--forgetful'] });
    await sitting.say(steps({ say: 'one' }));
    const said = await sitting.movedTo(harness()).say(steps({ tell: 'history' }));
    expect(said.custom('session_lost')).toHaveLength(1);
    expect(said.end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('is reloaded when the process missed a run that another server executed', async () => {
    const { sitting, harness } = await sit({});
    await sitting.say(steps({ say: 'one' }));
    const elsewhere = sitting.movedTo(harness());
    await elsewhere.say(steps({ say: 'two' }));
    const back = elsewhere.movedTo(sitting.harness);
    const said = await back.say(steps({ tell: 'history' }));
    expect(said.text).toContain('two');
  });

  test('starts with the instructions, sent once', async () => {
    const { sitting } = await sit({ settings: { instructions: 'Be kind.' } });
    await sitting.say(steps({ say: 'one' }));
    const said = await sitting.say(steps({ tell: 'history' }));
    expect(JSON.parse(said.text)).toEqual(['Be kind.', steps({ say: 'one' })]);
  });
});

describe('the process of an ACP agent', () => {
  test('ends when its session is released', async () => {
    const { sitting } = await sit({});
    await sitting.say(steps({ say: 'one' }));
    const before = await pid(sitting);
    await sitting.release();
    expect(await pid(sitting)).not.toBe(before);
  });

  test('ends after its idle time', async () => {
    const timers: (() => void)[] = [];
    const clock: Clock = {
      now: () => systemClock.now(),
      after(ms, callback) {
        if (ms < 200_000) return systemClock.after(ms, callback);
        timers.push(callback);
        return () => timers.splice(timers.indexOf(callback), 1);
      },
    };
    const { sitting } = await sit({ clock });
    await sitting.say(steps({ say: 'one' }));
    const before = await pid(sitting);
    expect(timers).toHaveLength(1);
    timers[0]?.();
    expect(await pid(sitting)).not.toBe(before);
  });

  test('is replaced when agent.yaml changed', async () => {
    const { sitting, agent } = await sit({});
    await sitting.say(steps({ say: 'one' }));
    const before = await pid(sitting);
    const changed = sitting.movedTo(sitting.harness, { ...agent });
    expect(await pid(changed)).not.toBe(before);
  });

  test('runs in the session folder, with its own HOME and the given variables', async () => {
    process.env['TEST_ACP_SECRET'] = 'sesame-open-up';
    const env = { PLAIN: 'yes', PASSPHRASE: '${env:TEST_ACP_SECRET}' };
    const { sitting } = await sit({ settings: { env } });
    const said = await sitting.say(steps({ tell: 'cwd' }, { say: ' ' }, { tell: 'home' }));
    expect(said.text).toBe('/workspace /home/agent');
    const told = await sitting.say(steps({ tell: 'env' }));
    expect(told.text).toContain('"PLAIN":"yes"');
    expect(told.text).toContain('"PASSPHRASE":"[secret]"');
    expect(told.text).not.toContain('CONVOKE');
    expect(JSON.stringify(told.events)).not.toContain('sesame');
  });

  test('may be started through a link, as npm makes them', async () => {
    const link = join(place.folder, `link-${process.pid}`);
    await symlink(program, link);
    const { sitting } = await sit({ settings: { command: ['node', '--no-warnings', link, sdk] } });
    expect((await sitting.say(steps({ say: 'found' }))).text).toBe('found');
  });

  test("is found in the server's PATH, also outside /usr", async () => {
    const bin = join(place.folder, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'some-agent'), `#!/bin/sh\nexec node --no-warnings "$@"\n`);
    await chmod(join(bin, 'some-agent'), 0o755);
    vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { sitting } = await sit({ settings: { command: ['some-agent', program, sdk] } });
    expect((await sitting.say(steps({ say: 'found' }))).text).toBe('found');
  });

  test('gets the mode and the authentication method of agent.yaml', async () => {
    const { sitting } = await sit({
      flags: ['--locked'],
      settings: { acp: { auth_method: 'passphrase', mode: 'strict' } },
    });
    expect((await sitting.say(steps({ tell: 'mode' }))).text).toBe('strict');
  });

  test('is slowed down when it writes faster than its events are stored', async () => {
    const { sitting } = await sit({});
    const leg = sitting.start(steps({ flood: 5000 }));
    const said = await sitting.hear(leg);
    expect(said.text.trim().split(' ')).toEqual(Array.from({ length: 5000 }, (_, n) => String(n)));
  });
});

describe('a failure of an ACP agent has a message that names the cause', () => {
  test.each<[string, object, Step[], string, string]>([
    [
      'a program that is missing',
      { command: ['no-such-agent'] },
      [],
      'agent_error',
      'was not found',
    ],
    [
      'a program that ends',
      {},
      [{ crash: 3 }],
      'agent_error',
      'ended (code 3). It said: out of ideas',
    ],
    ['a program that is none', { command: ['/bin/true'] }, [], 'agent_error', 'ended (code 0)'],
    [
      'a model that fails',
      {},
      [{ fail: { code: -32_603, message: 'Internal error', data: { message: 'overloaded' } } }],
      'model_error',
      'Internal error: overloaded',
    ],
    ['a model that refuses', {}, [{ stop: 'refusal' }], 'model_error', 'refused'],
    [
      'a key that is refused',
      {},
      [{ fail: { code: -32_000, message: 'Invalid API key' } }],
      'model_error',
      'The API key was refused',
    ],
    [
      'a secret that is missing',
      { env: { KEY: '${env:NOT_THERE}' } },
      [],
      'agent_error',
      'no such variable',
    ],
    [
      'a mode that is missing',
      { acp: { mode: 'nosuch' } },
      [],
      'agent_error',
      'it has lax, strict',
    ],
    [
      'a sandbox that was not granted',
      { sandbox: { mode: 'none', network: [] } },
      [],
      'sandbox_unavailable',
      'none',
    ],
  ])('%s', async (...[, settings, script, code, words]) => {
    const { sitting } = await sit({ settings });
    const { end } = await sitting.say(steps(...script));
    expect(end).toMatchObject({ outcome: 'error', code });
    expect(JSON.stringify(end)).toContain(words);
  });

  test('missing authentication', async () => {
    const { sitting } = await sit({ flags: ['--locked'] });
    const { end } = await sitting.say(steps());
    expect(end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(JSON.stringify(end)).toContain('authentication');
  });

  test('an agent that never answers during its start', async () => {
    let isAsked = false;
    let expire = () => {};
    const clock: Clock = {
      now: () => systemClock.now(),
      after(ms, callback) {
        if (ms === 120_000) [isAsked, expire] = [true, callback];
        return systemClock.after(ms, callback);
      },
    };
    const { sitting } = await sit({ flags: ['--mute'], clock });
    const heard = sitting.say(steps());
    await eventually(() => isAsked);
    expire();
    expect(JSON.stringify((await heard).end)).toContain('did not answer initialize within 120 s');
  });

  test('an agent continues after a failed prompt', async () => {
    const { sitting } = await sit({});
    await sitting.say(steps({ fail: { code: -32_603, message: 'no' } }));
    const said = await sitting.say(steps({ tell: 'history' }));
    expect(JSON.parse(said.text)).toHaveLength(1);
  });
});

describe('the registry', () => {
  test.each<[Partial<Agent>, string]>([
    [{ settings: {} }, 'the program to run'],
    [{ approvalRequiredTools: ['write_file'] }, 'names no kind of tool call'],
  ])('refuses an ACP agent with %j', (parts, words) => {
    const problems = problemsWith({ read: readAcp }, { ...acpAgent({}), ...parts });
    expect(JSON.stringify(problems)).toContain(words);
  });

  test('accepts an agent with valid settings', () => {
    expect(problemsWith({ read: readAcp }, acpAgent({}))).toEqual([]);
  });
});

interface Sit {
  readonly flags?: readonly string[];
  readonly agent?: Partial<Agent>;
  readonly settings?: object;
  readonly clock?: Clock;
}

let sessions = 0;

async function sit({ flags = [], agent: parts, settings, clock = systemClock }: Sit) {
  sessions += 1;
  const name = String(sessions);
  const places = await place.session(name);
  const agent = acpAgent({ flags, ...(parts && { agent: parts }), ...(settings && { settings }) });
  const harness = () => {
    const made = acpHarness({ sandbox: place.sandbox, clock, log: recordingLog() });
    onTestFinished(() => made.release?.(sessionId(`sess_${name}`)));
    return made;
  };
  const sitting = new Sitting(harness(), { name, agent, ...places });
  const made = async (file: string) => {
    const path = join(places.sessionFolder, file);
    return existsSync(path) ? readFile(path, 'utf8') : undefined;
  };
  return { sitting, harness, made, agent };
}

function acpAgent({ flags = [], agent = {}, settings = {} }: Omit<Sit, 'clock'>): Agent {
  return agentOf({
    framework: 'acp',
    folder: fileURLToPath(new URL('.', import.meta.url)),
    settings: {
      // Names the SDK in the command so that the sandbox shows it to the agent.
      command: ['node', '--no-warnings', program, ...flags, sdk],
      env: {},
      tools: ['*'],
      mcp_servers: {},
      ask_user: true,
      limits: { max_steps: 25, memory_mb: 512, pids: 64 },
      sandbox: { mode: 'auto', network: [] },
      ...settings,
    },
    ...agent,
  });
}

/** Start time of the agent's process, which identifies it: pids are the same in every namespace. */
async function pid(sitting: Sitting): Promise<string> {
  return (await sitting.say(steps({ tell: 'born' }))).text;
}

/** Processes that the test agent left running, as the host sees them. */
function sleepers(): readonly string[] {
  return readdirSync('/proc').filter((entry) => {
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8') === 'sleep\x001000.5\x00';
    } catch {
      return false;
    }
  });
}

function steps(...list: readonly Step[]): string {
  return JSON.stringify(list);
}
