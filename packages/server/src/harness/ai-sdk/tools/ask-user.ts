import { z } from 'zod';
import type { HarnessEvent } from '../../../ports/harness.ts';

export const askUserName = 'ask_user';

const label = z.string().min(1).max(200);
export const askUserSchema = z.strictObject({
  question: z.string().min(1).max(10_000),
  options: z
    .array(z.strictObject({ label, description: z.string().max(1000).optional() }))
    .max(20)
    .optional()
    .describe('Choices to offer; the user may also answer in their own words'),
  multiple: z.boolean().optional().describe('Whether several options may be chosen'),
});

export const askUserDescription =
  'Asks the user a question and waits for the answer. Use it when you cannot continue without one.';

/** The interaction for a call of `ask_user`; `undefined` when its input is invalid. */
export function questionOf(
  ref: string,
  input: unknown,
): Extract<HarnessEvent, { type: 'user_question' }> | undefined {
  const parsed = askUserSchema.safeParse(input);
  if (!parsed.success) return undefined;
  const { question, options, multiple } = parsed.data;
  const offered = options?.map((option) => ({
    label: option.label,
    ...(option.description !== undefined && { description: option.description }),
  }));
  return {
    type: 'user_question',
    ref,
    question,
    ...(offered !== undefined && offered.length > 0 && { options: offered }),
    ...(multiple === true && { multiple }),
  };
}
