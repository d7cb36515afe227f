import { z } from 'zod';

export type TextBounds = {
  readonly min?: number;
  readonly max: number;
  /** `many` also accepts tabs and line breaks. */
  readonly lines?: 'one' | 'many';
  /** `refused`: at least one character is not white space. */
  readonly blank?: 'accepted' | 'refused';
};

const patterns = {
  one: /^[^\u0000-\u001f\u007f]*$/u,
  many: /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/u,
} as const;

/**
 * Schema of text that a person wrote and a database column stores. Rejects control characters, because
 * PostgreSQL cannot store NUL and terminals interpret the rest, and lone surrogates, because UTF-8 cannot
 * encode them. Length counts code points, as JSON Schema does, so that the published schema is exact.
 */
export function text({ min = 1, max, lines = 'one', blank = 'accepted' }: TextBounds) {
  const isNamed = blank === 'refused';
  const pattern = isNamed
    ? new RegExp(`^(?=.*\\S)${patterns[lines].source.slice(1)}`, 'u')
    : patterns[lines];
  const accepts = (value: string) => {
    const length = codePoints(value);
    return length >= min && length <= max && pattern.test(value) && value.isWellFormed();
  };
  const error = `must be ${min} to ${max} characters${isNamed ? ', not all blank,' : ''} without control characters`;
  return z
    .string()
    .refine(accepts, { error })
    .meta({ minLength: min, maxLength: max, pattern: pattern.source });
}

/** Counts code points without building a list of them. */
export function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}
