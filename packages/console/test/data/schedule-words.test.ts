import { expect, test } from 'vitest';
import { nextTimes } from '../../src/data/schedule/next-times.ts';
import { cronOf, rhythmOf, scheduleWords } from '../../src/data/schedule/schedule-words.ts';

test.each([
  ['5 * * * *', 'Every hour at :05'],
  ['30 7 * * *', 'Every day at 07:30'],
  ['0 9 * * 1-5', 'Every weekday at 09:00'],
  ['0 9 * * 0', 'Every Sunday at 09:00'],
  ['15 18 31 * *', 'On day 31 of every month at 18:15'],
])('%s is said as "%s", and read back from it', (cron, words) => {
  expect(scheduleWords(cron)).toBe(words);
  expect(cronOf(rhythmOf(cron))).toBe(cron);
});

test.each([
  ['* * * * *', 'Every minute'],
  ['*/5 * * * *', 'Every 5 minutes'],
])('%s is said as "%s", and written as cron', (cron, words) => {
  expect(scheduleWords(cron)).toBe(words);
  expect(rhythmOf(cron).kind).toBe('custom');
});

test.each([
  '*/7 * * * *',
  '*/0 * * * *',
  '0 9 1 1 *',
  '0 9 * * 1,3',
  '0 25 * * *',
  '0 9 0 * *',
  'not a plan',
  '',
])('%j has no words: it stays as it is', (cron) => {
  expect(rhythmOf(cron).kind).toBe('custom');
  expect(scheduleWords(cron)).toBe(cron);
});

test('the next times are those of the zone, and a wrong expression says what is wrong', async () => {
  const times = await nextTimes('0 9 * * 1-5', 'Europe/Berlin', 3);
  expect(times).toHaveLength(3);
  for (const time of times) expect(time).toMatch(/^(Mon|Tue|Wed|Thu|Fri).* 09:00$/);
  await expect(nextTimes('0 25 * * *', 'UTC', 3)).rejects.toThrow('hour');
});
