import { expect, test } from 'vitest';
import { callsOf } from '../src/commands/application/runs/exported-run.ts';
import { type JudgedRun, versionsOf } from '../src/commands/application/runs/versions.ts';

const [older, newer] = ['b7714e03'.repeat(8), '5f0c9a12'.repeat(8)];
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

interface Made {
  readonly digest?: string;
  readonly second: number;
  readonly tookSeconds?: number;
  readonly cost?: number;
  readonly scores?: readonly number[];
  readonly status?: 'completed' | 'failed' | 'queued';
}

function judged({ digest, second, tookSeconds, cost, scores = [], ...rest }: Made): JudgedRun {
  const times =
    tookSeconds === undefined ? {} : { started_at: at(second), ended_at: at(second + tookSeconds) };
  const run = {
    id: `run_${second}`,
    session_id: 'sess_1',
    agent_name: 'triage',
    status: rest.status ?? 'completed',
    preview: '',
    labels: {},
    pending_interactions: 0,
    created_at: at(second),
    ...times,
    ...(cost === undefined
      ? {}
      : { usage: { input_tokens: 1, output_tokens: 1, cost, currency: 'USD' } }),
    ...(digest === undefined ? {} : { agent_digest: digest }),
  } as const;
  const feedback = scores.map((score, index) => ({
    key: 'rating',
    score,
    author: { kind: 'end_user' as const, id: `u-${index}` },
    created_at: at(second),
    updated_at: at(second),
  }));
  return { run, feedback };
}

test('runs are compared by version, the newest version first (D-581)', () => {
  const rows = versionsOf([
    judged({ digest: newer, second: 40, tookSeconds: 2, cost: 5, scores: [1, -1] }),
    judged({ digest: newer, second: 30, tookSeconds: 4, cost: 7, status: 'failed' }),
    judged({ second: 20, status: 'queued' }),
    judged({ digest: older, second: 5, tookSeconds: 9, scores: [1] }),
    judged({ digest: newer, second: 31, tookSeconds: 3 }),
  ]);
  const shared = { agent_name: 'triage', failed: 0, costs: {}, scores: {} };
  expect(rows).toEqual([
    {
      ...shared,
      agent_digest: newer,
      first_run_at: at(30),
      runs: 3,
      failed: 1,
      took_ms: 3000,
      costs: { USD: 12 },
      scores: { rating: { mean: 0, count: 2 } },
    },
    { ...shared, agent_digest: undefined, first_run_at: at(20), runs: 1, took_ms: undefined },
    {
      ...shared,
      agent_digest: older,
      first_run_at: at(5),
      runs: 1,
      took_ms: 9000,
      scores: { rating: { mean: 1, count: 1 } },
    },
  ]);
});

test('the calls of a log are exported with their results, and none of a log that lost its beginning (D-581)', async () => {
  const events = [
    ['run_started', { run_id: 'run_1' }],
    ['demo.tool_call', { id: 'a', name: 'read', input: { path: 'x' } }],
    ['demo.tool_call', { id: 'b', name: 'pay', input: {} }],
    ['demo.tool_result', { id: 'a', name: 'read', ok: true, output: 'text' }],
  ].map(([type, data], index) => ({
    id: String(index + 1).padStart(12, '0'),
    session_id: 'sess_1',
    run_id: 'run_1',
    created_at: at(index),
    type,
    data,
  })) as never[];
  const listed = async function* (list: readonly never[]) {
    yield* list;
  };
  const last = { last_event_id: '000000000004' };
  expect(await callsOf(last, listed(events))).toEqual([
    { name: 'read', input: { path: 'x' }, ok: true, output: 'text' },
    { name: 'pay', input: {}, ok: null },
  ]);
  expect(await callsOf(last, listed(events.slice(1)))).toBe(null);
  expect(await callsOf(last, listed([]))).toBe(null);
  expect(await callsOf({}, listed([]))).toEqual([]);
});
