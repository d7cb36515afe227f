import { limits } from '@convoke/contract';

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * The seconds of a time such as `90s`, `15m`, `2h`, `3d` or `2w`; undefined for any other text, and for more than 366
 * days.
 */
export function secondsIn(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (secondsOf[unit] ?? 0);
  return count === undefined || seconds > limits.waitMaxSeconds ? undefined : seconds;
}
