import { Cron } from 'croner';
import { type Ruling, accepted, refused } from '../refusal.ts';

/**
 * A slot is a time that a cron pattern names in a time zone, in milliseconds since 1970. When clocks change, a pattern
 * with one fixed time of the day has one slot that day: a time that is left out counts at the end of the gap, one that
 * comes twice counts the first time. Other patterns have a slot at every local time that matches, also the second time.
 */
export type Pattern = Pick<Cron, 'nextRun' | 'nextRuns' | 'previousRuns'>;

const fieldPattern = /^[0-9A-Za-z*,/-]+$/;
const names = /[A-Za-z]+/g;
const knownNames = new Set(
  'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC SUN MON TUE WED THU FRI SAT'.split(' '),
);

/** Refuses everything but five plain fields, and time zones that this machine does not know. */
export function readCron({
  cron,
  timeZone,
}: {
  readonly cron: string;
  readonly timeZone: string;
}): Ruling<Pattern> {
  const problem = problemOf(cron);
  if (problem !== undefined) return refused('invalid_cron', `cron: ${problem}`);
  if (!isTimeZone(timeZone)) {
    return refused('invalid_time_zone', `time_zone: ${timeZone} is not a known IANA time zone`);
  }
  try {
    return accepted(new Cron(cron, { timezone: timeZone, mode: '5-part', paused: true }));
  } catch (error) {
    return refused('invalid_cron', `cron: ${reasonOf(error)}`);
  }
}

function problemOf(cron: string): string | undefined {
  const fields = cron.trim().split(/ +/);
  if (fields.length !== 5) return `must have five fields, not ${fields.length}`;
  const strange = fields.find(
    (field) =>
      !fieldPattern.test(field) ||
      (field.match(names) ?? []).some((name) => !knownNames.has(name.toUpperCase())),
  );
  return strange === undefined
    ? undefined
    : `"${strange}" may contain only numbers, names of months and days, and * , - /`;
}

function isTimeZone(name: string): boolean {
  // An offset such as +01:00 is no zone: it does not know when clocks change.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^CronPattern: /, '').replace(/\.$/, '');
}

/** The first slot after a time, or null when none follows. */
export function nextSlot(pattern: Pattern, after: number): number | null {
  return pattern.nextRun(new Date(after))?.getTime() ?? null;
}

export function nextSlots(pattern: Pattern, after: number, count: number): number[] {
  return pattern.nextRuns(count, new Date(after)).map((slot) => slot.getTime());
}

/** At most `max` slots from `from` to `to`, both included: the newest, oldest first. */
export function newestSlots(
  pattern: Pattern,
  { from, to, max }: { readonly from: number; readonly to: number; readonly max: number },
): number[] {
  const slots: number[] = [];
  // The library looks before a whole second: the next one, so that a slot in this second is found.
  let before = (Math.floor(to / 1000) + 1) * 1000;
  // One by one: looking back for more than there are could go back centuries.
  while (slots.length < max) {
    const slot = pattern.previousRuns(1, new Date(before))[0]?.getTime();
    if (slot === undefined || slot < from) break;
    slots.push(slot);
    before = slot;
  }
  return slots.reverse();
}
