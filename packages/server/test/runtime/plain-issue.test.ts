import { expect, test } from 'vitest';
import { z } from 'zod';
import { plainIssue } from '../../src/runtime/plain-issue.ts';

test.each([
  [z.string(), undefined, 'is missing'],
  [z.enum(['a', 'b']), undefined, 'must be one of "a", "b"'],
  [z.array(z.string()), undefined, 'is missing'],
  [z.string(), 5, 'must be a string, not a number'],
  [z.number(), [], 'must be a number, not an array'],
  [z.object({}), null, 'must be an object, not null'],
  [z.boolean(), {}, 'must be a boolean, not an object'],
  [z.number().max(5), 9, 'must be at most 5'],
  [z.number().min(1), 0, 'must be at least 1'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.string().max(3), 'four', 'must have at most 3 characters'],
  [z.array(z.number()).min(1), [], 'must have at least 1 item'],
  [z.union([z.string(), z.number()]), true, 'is not valid'],
  [z.string().regex(/^a/, 'must begin with a'), 'b', 'must begin with a'],
])('what zod refuses is said plainly (%#)', (schema, value, said) => {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  expect(plainIssue(issue?.message ?? '')).toBe(said);
});
