import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Agent } from '../../../src/domain/agent.ts';
import { readAcp } from '../../../src/harness/acp/settings.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { problemsWith } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import type { Sitting } from '../sittings.ts';
import type { Step } from './agent.ts';
import { acpAgent, program, sdk, steps, useAcpAgent } from './use-acp-agent.ts';

const { sit, folder } = useAcpAgent();

test('a message that is nested too deeply ends the leg with an error that says so', async () => {
  const { sitting } = await sit({});
  const input = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) as object;
  const said = await sitting.say(steps({ say: 'before ' }, { call: 'deep', input }));
  expect(said.text).toBe('before ');
  const message = expect.stringContaining('it has more than 128 levels');
  expect(said.end).toMatchObject({ outcome: 'error', code: 'agent_error', message });
});

describe('the memory of an ACP agent', () => {
  test('is kept by its process between runs, and restored from its session after the process ended', async () => {
    const { sitting, harness } = await sit({});
    await sitting.say(steps({ say: 'one' }));
    expect(await pid(sitting)).toBe(await pid(sitting));
    await sitting.release();
    const restarted = sitting.movedTo(harness());
    const said = await restarted.say(steps({ report: 'history' }));
    expect(said.text).toContain('one');
    expect(said.custom('session_lost')).toEqual([]);
  });

  test('is restored without emitting it again, also if the agent replays it', async () => {
    const { sitting, harness } = await sit({ flags: ['--load'] });
    await sitting.say(steps({ say: 'one' }));
    const said = await sitting.movedTo(harness()).say(steps({ report: 'history' }));
    expect(said.text).not.toContain('replayed');
    expect(said.text).toContain('one');
  });

  test('is reported as lost when the agent does not have the session', async () => {
    const { sitting, harness } = await sit({ flags: ['--forgetful'] });
    await sitting.say(steps({ say: 'one' }));
    const said = await sitting.movedTo(harness()).say(steps({ report: 'history' }));
    expect(said.custom('session_lost')).toHaveLength(1);
    expect(said.end).toMatchObject({ outcome: 'completed' });
  });

  test('is reloaded when the process missed a run that another server executed', async () => {
    const { sitting, harness } = await sit({});
    await sitting.say(steps({ say: 'one' }));
    const elsewhere = sitting.movedTo(harness());
    await elsewhere.say(steps({ say: 'two' }));
    const back = elsewhere.movedTo(sitting.harness);
    const said = await back.say(steps({ report: 'history' }));
    expect(said.text).toContain('two');
  });

  test('starts with the instructions, sent once', async () => {
    const { sitting } = await sit({ settings: { instructions: 'Be kind.' } });
    await sitting.say(steps({ say: 'one' }));
    const said = await sitting.say(steps({ report: 'history' }));
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
    const said = await sitting.say(steps({ report: 'cwd' }, { say: ' ' }, { report: 'home' }));
    expect(said.text).toBe('/workspace /home/agent');
    const reported = await sitting.say(steps({ report: 'env' }));
    expect(reported.text).toContain('"PLAIN":"yes"');
    expect(reported.text).toContain('"PASSPHRASE":"[secret]"');
    expect(reported.text).not.toContain('CONVOKE');
    expect(JSON.stringify(reported.events)).not.toContain('sesame');
  });

  test('may be started through a link, as npm makes them', async () => {
    const link = join(folder(), `link-${process.pid}`);
    await symlink(program, link);
    const { sitting } = await sit({ settings: { command: ['node', '--no-warnings', link, sdk] } });
    expect((await sitting.say(steps({ say: 'found' }))).text).toBe('found');
  });

  test("is found in the server's PATH, also outside /usr", async () => {
    const bin = join(folder(), 'bin');
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
    expect((await sitting.say(steps({ report: 'mode' }))).text).toBe('strict');
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
    [
      'a program that is not an agent',
      { command: ['/bin/true'] },
      [],
      'agent_error',
      'ended (code 0)',
    ],
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
      'no such environment variable',
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
    const said = await sitting.say(steps({ report: 'history' }));
    expect(JSON.parse(said.text)).toHaveLength(1);
  });
});

describe('the registry', () => {
  test.each<[Partial<Agent>, string]>([
    [{ settings: {} }, 'the program to run'],
    [{ approvalRequiredTools: ['write_file'] }, 'matches no kind of tool call'],
  ])('refuses an ACP agent with %j', (parts, words) => {
    const problems = problemsWith({ read: readAcp }, { ...acpAgent({}), ...parts });
    expect(JSON.stringify(problems)).toContain(words);
  });

  test('accepts an agent with valid settings', () => {
    expect(problemsWith({ read: readAcp }, acpAgent({}))).toEqual([]);
  });
});

/** Start time of the agent's process, which identifies it: pids are the same in every namespace. */
async function pid(sitting: Sitting): Promise<string> {
  return (await sitting.say(steps({ report: 'born' }))).text;
}
