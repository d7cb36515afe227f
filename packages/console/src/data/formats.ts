/** Texts for people: times, durations, numbers, sizes. Every clock is an argument. */

export { printable } from '@convoke/faces/printable';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** `1.2 s`, `3 min 04 s`, `2 h 05 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  const rounded = Math.max(0, ms);
  if (rounded < second) return `${Math.round(rounded)} ms`;
  if (rounded < 10 * second) return `${(Math.floor(rounded / 100) / 10).toFixed(1)} s`;
  if (rounded < minute) return `${Math.floor(rounded / second)} s`;
  if (rounded < hour) return pair(rounded, { large: [minute, 'min'], small: [second, 's'] });
  if (rounded < day) return pair(rounded, { large: [hour, 'h'], small: [minute, 'min'] });
  return `${Math.floor(rounded / day)} d ${Math.floor((rounded % day) / hour)} h`;
}

interface Units {
  readonly large: readonly [number, string];
  readonly small: readonly [number, string];
}

function pair(ms: number, { large, small }: Units): string {
  const whole = Math.floor(ms / large[0]);
  const rest = Math.floor((ms % large[0]) / small[0]);
  return `${whole} ${large[1]} ${String(rest).padStart(2, '0')} ${small[1]}`;
}

/** `1 m 56 s`, `2 h 5 m`: a duration where there is little room. */
export function compactly(ms: number): string {
  if (ms < minute) return duration(ms);
  if (ms < hour) return `${Math.floor(ms / minute)} m ${Math.floor((ms % minute) / second)} s`;
  if (ms < day) return `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} m`;
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`;
}

/** `5:21`, or `1:05:21`: where a column is as narrow as the display of a stopwatch. */
export function stopwatch(ms: number): string {
  const hours = Math.floor(ms / hour);
  const minutes = Math.floor((ms % hour) / minute);
  const seconds = String(Math.floor((ms % minute) / second)).padStart(2, '0');
  if (hours === 0) return `${minutes}:${seconds}`;
  return `${hours}:${String(minutes).padStart(2, '0')}:${seconds}`;
}

/** Up to a day relative, then the date. A clock that differs a little must not say "in 2 s". */
export function ago(at: string, now: number): string {
  const ms = now - Date.parse(at);
  if (ms < 5 * second) return 'just now';
  if (ms < minute) return `${Math.floor(ms / second)} s ago`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ago`;
  if (ms < day) return `${Math.floor(ms / hour)} h ago`;
  return date(at, now);
}

/** How long until a time in the future; `undefined` when it has passed. */
export function until(at: string, now: number): string | undefined {
  const ms = Date.parse(at) - now;
  if (ms <= 0) return undefined;
  if (ms < minute) return `${Math.ceil(ms / second)} s`;
  if (ms <= hour) return `${Math.ceil(ms / minute)} min`;
  if (ms <= 2 * day) return `${Math.ceil(ms / hour)} h`;
  if (ms <= 2 * year) return `${Math.ceil(ms / day)} days`;
  return `${Math.floor(ms / year)} years`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `3 Nov`, or `3 Nov 2025` in another year; in the zone of the page. */
export function date(at: string, now: number): string {
  const then = new Date(at);
  const text = `${then.getDate()} ${months[then.getMonth()]}`;
  return then.getFullYear() === new Date(now).getFullYear()
    ? text
    : `${text} ${then.getFullYear()}`;
}

/** `15 Nov` of the day `2026-11-15`, whatever the zone of the page is. */
export function dayName(day: string): string {
  const [, month = '', date = ''] = day.split('-');
  return `${Number(date)} ${months[Number(month) - 1] ?? ''}`.trim();
}

export type TimeZoneChoice = 'local' | 'utc';

/** Exact, for a tooltip and for copies: `2026-11-15 18:21:10.123`, with the zone when it is UTC. */
export function exact(at: string, zone: TimeZoneChoice): string {
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return at;
  if (zone === 'utc') return then.toISOString().replace('T', ' ').replace('Z', ' UTC');
  const shifted = new Date(then.getTime() - then.getTimezoneOffset() * minute);
  return shifted.toISOString().replace('T', ' ').replace('Z', '');
}

/** When something will be: `14:00` today, else `2 Dec, 10:00`, with the year of another one. */
export function moment(at: string, zone: TimeZoneChoice, now: number): string {
  const [day = '', time = ''] = exact(at, zone).split(' ');
  const [today = ''] = exact(new Date(now).toISOString(), zone).split(' ');
  const clock = time.slice(0, 5);
  if (day === today) return clock;
  const year = day.slice(0, 4) === today.slice(0, 4) ? '' : ` ${day.slice(0, 4)}`;
  return `${dayName(day)}${year}, ${clock}`;
}

/** Formats a time for a `datetime-local` field, `2026-11-15T18:21`; empty if it is invalid. */
export function fieldOfMoment(at: string, zone: TimeZoneChoice): string {
  const text = exact(at, zone);
  return Number.isNaN(Date.parse(at)) ? '' : text.slice(0, 16).replace(' ', 'T');
}

/** The moment that a field for date and time names; empty when the field is. */
export function momentOfField(field: string, zone: TimeZoneChoice): string {
  const then = new Date(zone === 'utc' ? `${field}Z` : field);
  return Number.isNaN(then.getTime()) ? '' : then.toISOString();
}

/**
 * `Mon 16 Nov, 09:00`, or `Mon 16 Nov 2026, 09:00` in another year. In the named zone: a plan is read in the zone it
 * was written in.
 */
export function inZone(at: string, timeZone: string, now: number): string {
  const format = formatIn(timeZone);
  if (format === undefined) return exact(at, 'utc');
  const parts = partsOf(format, new Date(at));
  const [weekday, date, month, year, hours, minutes] = (
    ['weekday', 'day', 'month', 'year', 'hour', 'minute'] as const
  ).map((name) => parts.get(name));
  const isThisYear = year === partsOf(format, new Date(now)).get('year');
  return `${weekday} ${date} ${month}${isThisYear ? '' : ` ${year}`}, ${hours}:${minutes}`;
}

function partsOf(format: Intl.DateTimeFormat, at: Date): Map<string, string> {
  return new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
}

/** The server may know a zone that this browser does not. */
function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone,
    });
  } catch {
    return undefined;
  }
}

/** The time of day, for rows whose day is known. */
export function clock(at: string): string {
  const then = new Date(at);
  return [then.getHours(), then.getMinutes(), then.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** `1,204`. */
export function number(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** `950`, `1.2k`, `1.9 M`: for places without room for every digit. */
export function short(value: number): string {
  if (value < 1000) return String(Math.round(value));
  if (value < 999_500) return `${trimmed(value / 1000)}k`;
  return `${trimmed(value / 1_000_000)} M`;
}

function trimmed(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, '');
}

/** `512 B`, `1.5 kB`, `2.3 MB`. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 999_500) return `${trimmed(value / 1000)} kB`;
  if (value < 999_500_000) return `${trimmed(value / 1_000_000)} MB`;
  return `${trimmed(value / 1_000_000_000)} GB`;
}

/** The beginning of an id, enough to recognise it. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}

/** The first line with words, cut at `max` characters. */
export function firstWords(text: string, max = 120): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

/** `1 run`, `2 runs`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}
