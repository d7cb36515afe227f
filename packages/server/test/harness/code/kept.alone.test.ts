// D-185: the process of a session is kept for its next leg, and for no other session.
import { statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import type { Agent } from '../../../src/domain/agent.ts';
import { codeHarness } from '../../../src/harness/code/harness.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Harness, Leg } from '../../../src/ports/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, readBy, recordingLog } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import { SandboxPlace, Sitting } from '../sittings.ts';

const folder = dirname(fileURLToPath(import.meta.url));
let place: SandboxPlace;
beforeAll(async () => {
  requireSandbox();
  place = await SandboxPlace.open();
});
afterAll(() => place.close());

/** Calls timers of the pool at the test's command. */
function heldClock() {
  const timers: (() => void)[] = [];
  const clock: Clock = {
    now: () => systemClock.now(),
    after(ms, callback) {
      if (ms !== 120_000) return systemClock.after(ms, callback);
      timers.push(callback);
      return () => timers.splice(timers.indexOf(callback), 1);
    },
  };
  return { clock, timers };
}

function openHarness(clock = systemClock): Harness {
  return codeHarness({ sandbox: place.sandbox, clock, log: recordingLog() });
}

let entry = '';
function agentWith(settings: object = {}) {
  return agentOf({ framework: 'code', folder, settings: { entry, ...settings } });
}

interface Sit {
  readonly harness?: Harness;
  readonly agent?: Agent;
}

let sessions = 0;
async function sit({ harness = openHarness(), agent = agentWith() }: Sit = {}) {
  sessions += 1;
  const name = `kept-${sessions}`;
  const folders = await place.session(name);
  return {
    sitting: new Sitting(harness, { name, agent: readBy(harness, agent), ...folders }),
    folders,
  };
}

/** The name of the process that answers, and the number of its leg. */
async function ask(
  sitting: Sitting,
  prompt = '',
): Promise<{ name: string; leg: number; text: string }> {
  const { text } = await sitting.say(prompt);
  const [, name = '', leg = ''] = /^(\w+) leg (\d+) /.exec(text) ?? [];
  return { name, leg: Number(leg), text };
}

describe.each(['kept-agent.ts', 'kept_agent.py'])('the process of %s', (file) => {
  beforeAll(() => {
    entry = file;
  });

  test('serves the next run of its session, and starts like a new one', async () => {
    const { sitting } = await sit();
    const first = await ask(sitting, 'complain');
    const second = await ask(sitting, 'folder');
    expect(second).toEqual({
      name: first.name,
      leg: 2,
      text: `${first.name} leg 2 run 2 in /workspace`,
    });
    const { end } = await sitting.say('fail');
    expect(end).toMatchObject({ outcome: 'error', message: expect.stringContaining('on purpose') });
    expect(JSON.stringify(end)).not.toContain('something of this leg');
  });

  test('serves the leg after an answer, which is replayed', async () => {
    const { sitting } = await sit();
    const asked = await sitting.say('ask');
    expect(asked.end).toMatchObject({ outcome: 'waiting' });
    const [question] = asked.asked;
    const answers = new Map([
      [question?.ref ?? '', { kind: 'question', values: ['late'] } as const],
    ]);
    const answered = await sitting.hear(sitting.goOn('ask', {}, answers));
    expect([answered.text, answered.end]).toMatchObject([' late', { outcome: 'completed' }]);
    expect((await ask(sitting)).leg).toBe(3);
  });

  test('never serves another session', async () => {
    const harness = openHarness();
    const agent = readBy(harness, agentWith());
    const [one, two] = [await sit({ harness, agent }), await sit({ harness, agent })];
    const first = await ask(one.sitting);
    const other = await ask(two.sitting);
    expect([other.name === first.name, other.leg]).toEqual([false, 1]);
    const both = await Promise.all([ask(one.sitting), ask(two.sitting)]);
    expect(both.map(({ name, leg }) => [name, leg])).toEqual([
      [first.name, 2],
      [other.name, 2],
    ]);
  });

  test('is not kept if the agent says so', async () => {
    const { sitting } = await sit({ agent: agentWith({ code: { keep_seconds: 0 } }) });
    await ask(sitting);
    expect(sitting.harness.kept?.()).toEqual([]);
    expect((await ask(sitting)).leg).toBe(1);
  });

  test.each([
    ['an error', (sitting: Sitting) => sitting.say('fail')],
    ['a cancel', (sitting: Sitting) => endOf(sitting, (leg) => sitting.cancel(leg))],
    ['a hand-over', (sitting: Sitting) => endOf(sitting, (leg) => leg.yield?.())],
    ['a process that it left behind', (sitting: Sitting) => sitting.say('leave a process')],
  ])('ends after %s', async (_what, disturb) => {
    const { sitting } = await sit();
    const { name } = await ask(sitting);
    await disturb(sitting);
    expect(sitting.harness.kept?.()).toEqual([]);
    expect((await ask(sitting)).name).not.toBe(name);
  });

  test('ends when its agent was read again, or its session is released', async () => {
    const { sitting } = await sit();
    const { name } = await ask(sitting);
    const read = readBy(sitting.harness, agentWith());
    const edited = sitting.movedTo(sitting.harness, read);
    const { name: newName } = await ask(edited);
    expect(newName).not.toBe(name);
    await edited.release();
    expect(edited.harness.kept?.()).toEqual([]);
    expect((await ask(edited)).name).not.toBe(newName);
  });

  test('ends when its session folder was restored, which it cannot see', async () => {
    const { sitting, folders } = await sit();
    const { name } = await ask(sitting);
    await rename(folders.sessionFolder, `${folders.sessionFolder}-old`);
    await place.session(`kept-${sessions}`);
    expect((await ask(sitting)).name).not.toBe(name);
  });

  test('ends when a secret was replaced', async () => {
    vi.stubEnv('TEST_CODE_SECRET', 'sesame');
    const env = { PASSPHRASE: '${env:TEST_CODE_SECRET}', EXPECTED: 'mellon' };
    const { sitting } = await sit({ agent: agentWith({ env }) });
    expect((await ask(sitting, 'secret')).text).toContain('false');
    vi.stubEnv('TEST_CODE_SECRET', 'mellon');
    expect((await ask(sitting, 'secret')).text).toContain('true');
    vi.unstubAllEnvs();
  });

  test('is replaced if it dies before it has done anything in its leg', async () => {
    const { sitting } = await sit();
    await ask(sitting);
    const said = await ask(sitting, 'die in the second leg');
    expect([said.leg, said.text]).toEqual([1, expect.stringContaining('run 2')]);
  });

  test('does nothing between two legs, and continues in the next one', async () => {
    const { sitting, folders } = await sit();
    const ticks = () => statSync(join(folders.sessionFolder, 'ticks'), { throwIfNoEntry: false });
    const size = () => ticks()?.size ?? 0;
    const { name } = await ask(sitting, 'work on');
    const before = size();
    // As long as another process of the same kind needs for a whole run, in which this one would have written.
    const { sitting: other } = await sit();
    await ask(other);
    await ask(other);
    expect(size()).toBe(before);
    const { text } = await endOf(sitting, async (leg) => {
      await eventually(() => size() > before);
      await sitting.cancel(leg);
    });
    expect(text).toContain(`${name} leg 2`);
  });

  test('that is stopped ends with its session', async () => {
    const { sitting } = await sit();
    const { name } = await ask(sitting, 'work on');
    await sitting.release();
    expect((await ask(sitting)).name).not.toBe(name);
  });

  test('is replaced if it wrote something between two legs', async () => {
    const { sitting } = await sit();
    const { name } = await ask(sitting, 'write after the end');
    const said = await ask(sitting);
    expect([said.name === name, said.leg]).toEqual([false, 1]);
  });

  test('ends after its idle time', async () => {
    const { clock, timers } = heldClock();
    const { sitting } = await sit({ harness: openHarness(clock) });
    const { name } = await ask(sitting);
    expect([timers.length, sitting.harness.kept?.()]).toEqual([1, [expect.any(String)]]);
    timers[0]?.();
    expect(sitting.harness.kept?.()).toEqual([]);
    expect((await ask(sitting)).name).not.toBe(name);
  });
});

/** Starts a leg that works until it is disturbed. */
async function endOf(sitting: Sitting, disturb: (leg: Leg) => Promise<void> | undefined) {
  const leg = sitting.start('work');
  return sitting.hear(leg, {
    onEvent: (event) => (event.type === 'message_delta' ? disturb(leg) : undefined),
  });
}
