/** Reads an amount such as 2.50; undefined for anything else. */
export function microsOf(text: string): number | undefined {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return Number(whole) * microsPerUnit + Number(fraction.padEnd(6, '0'));
}

const microsPerUnit = 1_000_000;

/** Renders millionths of a currency unit: with cents, and all decimals where an amount has more. */
export function moneyText(micros: number, currency: string | undefined): string {
  const whole = Math.floor(micros / microsPerUnit).toLocaleString('en-US');
  const decimals = String(micros % microsPerUnit)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${whole}.${decimals}${currency === undefined ? '' : ` ${currency}`}`;
}
