import { Misuse } from '../failures.ts';

const secondsOf = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const waitMaxSeconds = 366 * secondsOf.d;

/** How long, or until when, a run waits. */
export type Duration = string | Date;

/** The end of a wait, as the line protocol has it. A number is refused, since it has no unit. */
export function endOfWait(
  what: string,
  duration: Duration,
): { readonly for_seconds: number } | { readonly until: string } {
  if (duration instanceof Date) return { until: timeOf(what, duration) };
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(String(duration)) ?? [];
  if (typeof duration !== 'string' || count === undefined || unit === undefined) {
    const given = JSON.stringify(duration) ?? String(duration);
    throw new Misuse(`${what}: ${given} is not a duration: use 90s, 15m, 2h, 3d or 2w`);
  }
  const seconds = Number(count) * secondsOf[unit as keyof typeof secondsOf];
  if (seconds > waitMaxSeconds) throw tooLong(what);
  return { for_seconds: seconds };
}

function timeOf(what: string, date: Date): string {
  if (Number.isNaN(date.getTime())) throw new Misuse(`${what}: the date is not valid`);
  if (date.getTime() - Date.now() > waitMaxSeconds * 1000) throw tooLong(what);
  return date.toISOString();
}

function tooLong(what: string): Misuse {
  return new Misuse(`${what}: a wait takes at most 366 days`);
}
