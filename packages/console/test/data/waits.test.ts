import { expect, test } from 'vitest';
import { RunView } from '../../src/data/run-view.ts';
import { parsedMessage } from '../../src/data/waits.ts';
import { EventScript, startedAt } from './run-events.ts';

const hour = 3_600_000;

function spansOf(script: EventScript, at: number) {
  const view = new RunView(new Date(startedAt).toISOString());
  for (const event of script.events) view.take(event);
  const { spans, ...rest } = view.snapshot().spansAt(startedAt + at);
  const drawn = spans.map(({ kind, prefix = '', label, from, to, isOpen }) => {
    return [kind, `${prefix}${label}`, from - startedAt, to - startedAt, isOpen];
  });
  return { ...rest, drawn: drawn.filter(([kind]) => kind !== 'queue' && kind !== 'text') };
}

const nap = { wait_id: 'wait_1', kind: 'timer', name: 'nap' };

test('a run that sleeps does not execute until it is woken, and its wait is a bar of its own', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.say(20, 'Good night. ');
  script.add('wait_started', 30, nap);
  const asleep = spansOf(script, hour);
  expect(asleep).toMatchObject({ isParked: true, executedMs: 30 });
  expect(asleep.drawn).toEqual([
    ['leg', 'Working, part 1', 0, 30, true],
    ['wait', 'Timer nap', 30, hour, true],
  ]);
  script.add('wait_ended', 2 * hour, { ...nap, outcome: 'fired' });
  expect(spansOf(script, 2 * hour + 5).isParked).toBe(true);
  script.add('run_resumed', 2 * hour + 10, { attempt: 1, reason: 'answered' });
  script.say(2 * hour + 20, 'Morning. ');
  script.add('run_completed', 2 * hour + 30);
  const over = spansOf(script, 3 * hour);
  expect(over).toMatchObject({ isParked: false, executedMs: 50, waitedMs: 2 * hour - 20 });
  expect(over.drawn).toEqual([
    ['leg', 'Working, part 1', 0, 30, false],
    ['wait', 'Timer nap', 30, 2 * hour, false],
    ['leg', 'Working, part 2', 2 * hour + 10, 2 * hour + 30, false],
  ]);
});

test('a step beside an open wait is work, and what is cancelled in its sleep did not work until then', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.add('wait_started', 10, nap);
  script.add('code.tool_call', 20, { tool_call_id: 'c', name: 'build', input: {} });
  expect(spansOf(script, hour)).toMatchObject({ isParked: false, executedMs: hour });
  script.add('code.tool_result', 2 * hour, { tool_call_id: 'c', name: 'build', ok: true });
  expect(spansOf(script, 3 * hour)).toMatchObject({ isParked: true, executedMs: 2 * hour });
  script.add('run_cancelled', 4 * hour);
  expect(spansOf(script, 5 * hour)).toMatchObject({ isParked: false, executedMs: 2 * hour });
});

test('an approval of one of several people is no work of the run', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.add('permission_request', 10, { interaction_key: 'k', tool_name: 'pay' });
  script.add('permission_approved', hour, { interaction_key: 'k', approvals: 1, needed: 2 });
  expect(spansOf(script, 2 * hour).executedMs).toBe(10);
});

test('the data of a message is any JSON value, and nothing is null', () => {
  expect(parsedMessage(' ')).toEqual({ ok: true, value: null });
  expect(parsedMessage('{"amount": 20}')).toEqual({ ok: true, value: { amount: 20 } });
  expect(parsedMessage('"yes"')).toEqual({ ok: true, value: 'yes' });
  expect(parsedMessage('{')).toMatchObject({ ok: false });
});
