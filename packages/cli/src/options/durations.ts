import { InvalidArgumentError } from 'commander';

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses `90s`, `15m`, `8h` or `2d` into seconds. */
export function seconds(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const value = Number(digits) * (units[unit] ?? 0);
  if (value > 0) return value;
  throw new InvalidArgumentError('Use a duration such as 90s, 15m, 8h or 2d.');
}

/** Parses a number of items. */
export function count(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new InvalidArgumentError('Must be a whole number from 1 to 99999.');
}
