const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Renders how long ago something was, in one unit: `12 s`, `5 min`, `3 h`, `4 d`. */
export function age(time: string, now = Date.now()): string {
  return oneUnit(Math.max(0, now - Date.parse(time)), Math.floor);
}

function oneUnit(ms: number, whole: (value: number) => number): string {
  if (ms < minuteMs) return `${whole(ms / secondMs)} s`;
  if (ms < hourMs) return `${whole(ms / minuteMs)} min`;
  if (ms < 2 * dayMs) return `${whole(ms / hourMs)} h`;
  return `${whole(ms / dayMs)} d`;
}

/** Renders how long something took: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  if (ms < 10 * secondMs) return `${(ms / secondMs).toFixed(1)} s`;
  const units: readonly [number, string][] = [
    [dayMs, 'd'],
    [hourMs, 'h'],
    [minuteMs, 'min'],
    [secondMs, 's'],
  ];
  const largest = units.findIndex(([unitMs]) => ms >= unitMs);
  let rest = ms;
  const parts = units.slice(largest, largest + 2).map(([unitMs, name]) => {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    return count === 0 ? '' : `${count} ${name}`;
  });
  return parts.filter((part) => part !== '').join(' ');
}

/** Renders a time: `2026-11-15 15:40:41 UTC`. */
export function plainTime(time: string): string {
  return time.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');
}

/** Renders a time with its distance from now: `2026-11-15 15:40:41 UTC (3 min ago)`. */
export function moment(time: string, now = Date.now()): string {
  const text = plainTime(time);
  const distance = now - Date.parse(time);
  // Rounded: a limit that was set to 90 days a moment ago is 90 days ahead.
  if (distance < 0) return `${text} (in ${oneUnit(-distance, Math.round)})`;
  return `${text} (${oneUnit(distance, Math.floor)} ago)`;
}
