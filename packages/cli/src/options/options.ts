import { InvalidArgumentError, Option } from 'commander';

/** Renders the example at the end of a help screen. */
export function example(line: string): string {
  return `\nExample:\n  npx convoke ${line}\n`;
}

const limitDefault = 50;
const limitMax = 10_000;

export function limitOption(): Option {
  return new Option('--limit <n>', 'maximum number of items')
    .default(limitDefault)
    .argParser(readLimit);
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${limitMax}`);
}

export function organizationOption(): Option {
  return new Option('--org <id>', 'organization id, if you belong to several');
}

const daysMax = 365;

export function readDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= daysMax) return days;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${daysMax}`);
}

/** Collects labels, `key:value` each. */
export function readLabels(
  text: string,
  before: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('must be key:value');
  return { ...before, [text.slice(0, colon)]: text.slice(colon + 1) };
}

/** Collects an option that may be repeated. */
export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
