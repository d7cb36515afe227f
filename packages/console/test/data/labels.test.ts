import { expect, test } from 'vitest';
import { isLabel, labelInRow, labelTexts } from '../../src/data/labels.ts';
import { sumByGroup } from '../../src/data/usage.ts';

test('labels are texts in the order of their keys, and only key:value filters', () => {
  expect(labelTexts({ ticket: 'OPS-1: x', area: '' })).toEqual(['area:', 'ticket:OPS-1: x']);
  expect(['ticket:OPS-1', 'area:', 'ticket', ':x', 'Ticket:x', ''].filter(isLabel)).toEqual([
    'ticket:OPS-1',
    'area:',
  ]);
});

test('in a row, a run of a schedule is called so', () => {
  expect(labelInRow('schedule_id:sch_01m7pyp4ewe00acpw88brw10cv')).toBe('scheduled');
  expect(labelInRow('team:finance')).toBe('team:finance');
});

test('the days of a label add up to one row for each of its values', () => {
  const none = { cached_input_tokens: 0, reasoning_tokens: 0 };
  const day = { ...none, input_tokens: 2, output_tokens: 1, runs: 1, failed: 0 };
  const rows = sumByGroup([
    { ...day, group: 'acme', cost: 5, currency: 'EUR' },
    { ...day, group: 'globex' },
    { ...day, group: 'acme', failed: 1 },
  ]);
  expect(rows).toMatchObject([
    { group: 'acme', runs: 2, failed: 1, input_tokens: 4, output_tokens: 2, cost: 5 },
    { group: 'globex', runs: 1 },
  ]);
  expect(rows[1]?.cost).toBeUndefined();
});
