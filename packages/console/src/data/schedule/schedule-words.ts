/** A schedule as people say it: how often, and when. A cron expression that says more is `custom`. */
export interface Rhythm {
  readonly kind: 'hour' | 'day' | 'weekday' | 'week' | 'month' | 'custom';
  /** `09:30`; of an hourly rhythm only the minutes count. */
  readonly time: string;
  /** 0 is Sunday. */
  readonly weekday: string;
  readonly day: string;
}

export const weekdays = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const;

const usual = { time: '09:00', weekday: '1', day: '1' } as const;

export function rhythmOf(cron: string): Rhythm {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = cron
    .trim()
    .split(/\s+/);
  const custom: Rhythm = { ...usual, kind: 'custom' };
  if (!isNumber(minute, 59) || month !== '*' || more.length > 0) return custom;
  if (hour === '*') {
    const isHourly = day === '*' && weekday === '*';
    return isHourly ? { ...usual, kind: 'hour', time: `00:${twoDigits(minute)}` } : custom;
  }
  if (!isNumber(hour, 23)) return custom;
  const at = { ...usual, time: `${twoDigits(hour)}:${twoDigits(minute)}` };
  if (day === '*' && weekday === '*') return { ...at, kind: 'day' };
  if (day === '*' && /^(1-5|mon-fri)$/i.test(weekday)) return { ...at, kind: 'weekday' };
  if (day === '*' && isNumber(weekday, 6)) return { ...at, kind: 'week', weekday };
  if (weekday === '*' && isNumber(day, 31) && day !== '0') return { ...at, kind: 'month', day };
  return custom;
}

/** The cron expression of a rhythm; undefined for one that only a cron expression can say. */
export function cronOf({ kind, time, weekday, day }: Rhythm): string | undefined {
  const [hour = 9, minute = 0] = time.split(':').map(Number);
  switch (kind) {
    case 'hour':
      return `${minute} * * * *`;
    case 'day':
      return `${minute} ${hour} * * *`;
    case 'weekday':
      return `${minute} ${hour} * * 1-5`;
    case 'week':
      return `${minute} ${hour} * * ${weekday}`;
    case 'month':
      return `${minute} ${hour} ${day} * *`;
    case 'custom':
      return undefined;
  }
}

/** `Every weekday at 09:00`; the expression itself where there are no words for it. */
export function scheduleWords(cron: string): string {
  const { kind, time, weekday, day } = rhythmOf(cron);
  switch (kind) {
    case 'hour':
      return `Every hour at ${time.slice(2)}`;
    case 'day':
      return `Every day at ${time}`;
    case 'weekday':
      return `Every weekday at ${time}`;
    case 'week':
      return `Every ${weekdays[Number(weekday)] ?? weekday} at ${time}`;
    case 'month':
      return `On day ${day} of every month at ${time}`;
    case 'custom':
      return minutesWords(cron) ?? cron;
  }
}

/** Words for a plan of every few minutes. Cron counts from each full hour, so only steps that divide 60 are regular. */
function minutesWords(cron: string): string | undefined {
  const step = /^\*(?:\/(\d{1,2}))? \* \* \* \*$/.exec(cron.trim());
  if (step === null) return undefined;
  const minutes = Number(step[1] ?? 1);
  if (minutes === 1) return 'Every minute';
  return minutes > 0 && 60 % minutes === 0 ? `Every ${minutes} minutes` : undefined;
}

function isNumber(text: string, max: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= max;
}

function twoDigits(text: string): string {
  return text.padStart(2, '0');
}
