import { expect, test } from 'vitest';
import { PendingOutput } from '../../src/execution/recording/pending-output.ts';
import { delta } from '../support/run-fixture.ts';

const mebibyte = 1024 * 1024;
const large = 'x'.repeat(mebibyte);

test('a leg waits once it has emitted 8 MiB that are not recorded, or 1,024 events', () => {
  const long = new PendingOutput();
  for (let n = 0; n < 7; n += 1) long.push(delta(large), mebibyte);
  expect(long.isFull).toBe(false);
  long.note({ kind: 'checkpoint', state: large, isRecoveryPoint: true }, mebibyte);
  expect(long.isFull).toBe(true);
  long.takeBatch();
  expect(long.isFull).toBe(false);

  const many = new PendingOutput();
  for (let n = 0; n < 1024; n += 1) many.push(delta('x'), 1);
  expect(many.isFull).toBe(true);
});

test('a batch has at most 4 MiB, and one larger event alone', () => {
  const pending = new PendingOutput();
  for (let n = 0; n < 6; n += 1) pending.push(delta(large), mebibyte);
  pending.push(delta('larger'), 5 * mebibyte);
  pending.push(delta('last'), 4);
  const sizes = Array.from({ length: 4 }, () => pending.takeBatch().items.length);
  expect(sizes).toEqual([4, 2, 1, 1]);
  expect(pending.isEmpty).toBe(true);
});

test('a note is taken with the last item before it, and the end with the last item of all', () => {
  const pending = new PendingOutput();
  for (let n = 0; n < 6; n += 1) pending.push(delta(large), mebibyte);
  pending.note({ kind: 'checkpoint', state: 1, isRecoveryPoint: true }, 1);
  pending.end = { status: 'completed', outputText: null };
  expect(pending.takeBatch()).toMatchObject({ notes: [], end: undefined });
  expect(pending.takeBatch()).toMatchObject({
    notes: [{ after: 2 }],
    end: { status: 'completed' },
  });
});
