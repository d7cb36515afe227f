import type { InteractionRecord, RunEvent, RunHandle } from '@convoke/sdk';
import { interruptedText } from '@convoke/faces';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Interrupts } from '../src/terminal/interrupts.ts';
import { createHandlers } from '../src/terminal/responding.ts';
import { showRun } from '../src/terminal/show-run.ts';

function event(seq: number, type: string, data: object): RunEvent {
  return { id: String(seq).padStart(12, '0'), type, data } as unknown as RunEvent;
}
const interrupted = { run_id: 'run_1', attempt: 1, reason: 'worker_lost' };

/** Its server died in the second line, of which `I will` is kept. */
const log = [
  event(1, 'run_started', { run_id: 'run_1' }),
  event(2, 'message_delta', { text: 'Hello.\nI will' }),
  event(3, 'message_delta', { text: ' say thi' }),
  event(4, 'message_delta', { text: interruptedText }),
  event(5, 'run_interrupted', { ...interrupted, discard_from_event_id: '000000000003' }),
  event(6, 'run_resumed', { ...interrupted, attempt: 2 }),
  event(7, 'message_delta', { text: ' say this' }),
  event(8, 'run_completed', { run_id: 'run_1', recovered: true }),
];

let stdout: string;
let stderr: string;
beforeEach(() => {
  stdout = '';
  stderr = '';
  const { stdout: out, stderr: err } = process;
  vi.spyOn(out, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(err, 'write').mockImplementation((text) => ((stderr += String(text)), true));
  const before = [out.isTTY, err.isTTY];
  err.isTTY = false;
  return () => {
    [out.isTTY, err.isTTY] = [before[0] ?? false, before[1] ?? false];
    vi.restoreAllMocks();
  };
});

describe('a run that was interrupted (D-87)', () => {
  test('on a terminal has a line for it, and the line that continues is shown from its start', () => {
    process.stdout.isTTY = true;
    play({ stream: false });
    expect(stderr).toBe('(interrupted, resuming)\n');
    expect(stdout).toBe('Hello.\nI will say thi\nI will say this\n');
  });

  test('reaches a pipe as one answer, without the words that were taken back', () => {
    process.stdout.isTTY = false;
    const shown = showRun({ stream: false });
    for (const each of log) {
      shown.show(each);
      expect(stdout).toBe('');
    }
    shown.close();
    expect(stdout).toBe('Hello.\nI will say this\n');
    expect(stderr).toBe('(interrupted, resuming)\n');
  });

  test('reaches a pipe with --stream as it comes, and the remark stands between the words that are repeated', () => {
    process.stdout.isTTY = false;
    play({ stream: true });
    expect(stdout).toBe('Hello.\nI will say thi\n\n(interrupted, resuming)\n\n say this\n');
    expect(stderr).toBe('(interrupted, resuming)\n');
  });

  function play(options: { readonly stream: boolean }): void {
    const shown = showRun(options);
    for (const each of log) shown.show(each);
    shown.close();
  }
});

test('a program that does not yield is named beside its words (D-479)', () => {
  const shown = showRun({ stream: false });
  const message = 'agent.ts has not yielded for 5 s: a loop without await?';
  shown.show(event(1, 'code.not_yielding', { message }));
  shown.close();
  expect(stderr).toBe(`${message}\n`);
});

test('--answer is for questions of the agent, and never repeats a call in doubt (D-84)', async () => {
  const leave = vi.fn<() => void>();
  const { onQuestion } = createHandlers({
    run: {} as RunHandle,
    answering: { answer: ['2'] },
    isAttended: false,
    isPatient: false,
    interrupts: {} as Interrupts,
    linkTo: async (id) => `https://convoke.test/${id}`,
    leave,
  });
  const question = (more: Partial<InteractionRecord>) =>
    onQuestion?.(
      {
        kind: 'question',
        question: 'Well?',
        options: [{ label: 'Yes, it completed' }, { label: 'No, run it now' }],
        ...more,
      } as InteractionRecord & { readonly kind: 'question' },
      { signal: new AbortController().signal },
    );
  const about = {
    kind: 'call_in_doubt',
    tool_name: 'pay',
    tool_input: {},
    begun_at: '2026-01-01T00:00:00Z',
  } as const;
  expect(await question({ about })).toBeUndefined();
  expect(leave).toHaveBeenCalledOnce();
  expect(await question({})).toBe('No, run it now');
});

test('of a call that is left for later, a script says why it is asked about, and how to answer', async () => {
  const { onPermission } = createHandlers({
    run: {} as RunHandle,
    answering: {},
    isAttended: false,
    isPatient: false,
    interrupts: {} as Interrupts,
    linkTo: async (id) => `https://convoke.test/${id}`,
    leave: vi.fn<() => void>(),
  });
  const record = {
    kind: 'permission',
    session_id: 'sess_1',
    interaction_key: 'int_1',
    tool_name: 'refund',
    rules: [{ source: 'agent', name: 'small', reason: 'Refunds are looked at.' }],
  } as InteractionRecord & { kind: 'permission' };
  await onPermission?.(record, { signal: new AbortController().signal });
  expect(stderr).toBe(
    'Refunds are looked at.\nwaiting for permission to run refund; answer with: convoke interactions answer sess_1 int_1 --allow\n',
  );
});

test('of a call that other people have to allow, the terminal says why, who may, and where (D-512)', async () => {
  const leave = vi.fn<() => void>();
  const { onWaiting } = createHandlers({
    run: { id: 'run_1' } as RunHandle,
    answering: {},
    isAttended: true,
    isPatient: true,
    interrupts: {} as Interrupts,
    linkTo: async (id) => `https://convoke.test/${id}`,
    leave,
  });
  const record = {
    kind: 'permission',
    tool_name: 'refund',
    rules: [{ source: 'organization', name: 'big', reason: 'Above 500 two people decide.' }],
    approvers: { role: 'admin', people: 2, not_starter: true, clients: false, end_users: false },
    approvals: [{ by: 'usr_1', by_name: 'Ann', at: '2026-01-15T09:30:00.000Z' }],
    can_allow: false,
  } as InteractionRecord & { kind: 'permission' };
  await onWaiting?.(record, { signal: new AbortController().signal });
  expect(stderr).toContain('Above 500 two people decide.');
  expect(stderr).toContain(
    'refund needs 2 people who are admin or owner and did not start the run (1 of 2: Ann): https://convoke.test/run_1',
  );
  expect(leave).toHaveBeenCalledOnce();
});
