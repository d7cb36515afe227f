import type { Convoke, RunRecord } from '@convoke/sdk';
import { expect, test } from 'vitest';
import { RunStore } from '../../src/data/run-store.ts';

/** A run whose records are answered when the test says so, and in the order that it wants. */
function slowRun() {
  const asked: ((status: RunRecord['status']) => void)[] = [];
  const read = () =>
    new Promise((resolve) => {
      asked.push((status) => resolve({ status }));
    });
  const run = { read, cancel: () => Promise.resolve({ status: 'cancelling' }) };
  const client = { sessions: { at: () => ({ runs: { at: () => run } }) } } as unknown as Convoke;
  const first = { id: 'run_1', session_id: 'sess_1', status: 'queued', created_at: '2026-01-01' };
  const store = new RunStore(client, first as RunRecord);
  return { store, asked };
}

test('an older answer never takes the place of a newer one, and many refreshes cost two requests', async () => {
  const { store, asked } = slowRun();
  const first = store.refresh();
  const others = Promise.all([store.refresh(), store.refresh()]);
  expect(asked).toHaveLength(1);
  asked[0]?.('running');
  await expect.poll(() => asked.length).toBe(2);
  expect(store.record.value.status).toBe('running');
  asked[1]?.('completed');
  await Promise.all([first, others]);
  expect(store.record.value.status).toBe('completed');
  expect(asked).toHaveLength(2);
});

test('a record that was read before a cancel does not undo what it has answered', async () => {
  const { store, asked } = slowRun();
  const before = store.refresh();
  const cancelled = store.cancel();
  await expect.poll(() => store.record.value.status).toBe('cancelling');
  asked[0]?.('running');
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.('cancelling');
  await Promise.all([before, cancelled]);
  expect(store.record.value.status).toBe('cancelling');
});
