/**
 * Amounts of money are whole numbers of millionths of a currency unit, so that sums are exact. Files and the command
 * line show and take them as decimals.
 */
const amountPattern = /^(\d{1,9})(?:\.(\d{1,6}))?$/;
const decimals = 6;

/** Reads a decimal such as `2.50`. Undefined for anything else, and for more than six decimals. */
export function microsOf(text: string): number | undefined {
  const [, whole, fraction = ''] = amountPattern.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return Number(whole) * 10 ** decimals + Number(fraction.padEnd(decimals, '0'));
}
