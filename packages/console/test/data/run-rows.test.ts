import type { NoticeRecord, RunStatus } from '@convoke/sdk';
import { expect, test } from 'vitest';
import { canCancel, rowAfter } from '../../src/data/run-rows.ts';

const created_at = '2026-01-15T09:30:00.000Z';

function noticeOf(data: NoticeRecord['data']): NoticeRecord {
  return { id: '0000000000000042', type: 'run_started', run_id: 'run_1', created_at, data };
}

test('a row takes status, error and end from the notice of its run', () => {
  const row = { id: 'run_1', status: 'queued' as RunStatus };
  const running = rowAfter(row, noticeOf({ status: 'running' }));
  expect(running).toEqual({ id: 'run_1', status: 'running' });
  const failed = rowAfter(running, noticeOf({ status: 'failed', error_code: 'model_error' }));
  expect(failed).toEqual({
    id: 'run_1',
    status: 'failed',
    error_code: 'model_error',
    ended_at: created_at,
  });
});

test('a row that shows the end of its run does not go back', () => {
  const row = { status: 'completed' as const, ended_at: '2026-01-15T09:31:00.000Z' };
  expect(rowAfter(row, noticeOf({ status: 'running' }))).toBe(row);
});

test('a row that is being cancelled changes only by its end', () => {
  const row = { status: 'cancelling' as RunStatus };
  expect(rowAfter(row, noticeOf({ status: 'waiting' }))).toBe(row);
  expect(rowAfter(row, noticeOf({ status: 'cancelled' })).status).toBe('cancelled');
});

test('a notice without a status changes nothing', () => {
  const row = { status: 'running' as const };
  expect(rowAfter(row, noticeOf({ percent: 80 }))).toBe(row);
});

test('what has ended or is being cancelled cannot be cancelled', () => {
  const statuses: RunStatus[] = [
    'queued',
    'running',
    'waiting',
    'cancelling',
    'completed',
    'failed',
    'cancelled',
  ];
  expect(statuses.filter((status) => canCancel({ status }))).toEqual([
    'queued',
    'running',
    'waiting',
  ]);
});
