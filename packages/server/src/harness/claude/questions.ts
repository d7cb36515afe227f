import { z } from 'zod';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Answer, HarnessEvent } from '../../ports/harness.ts';

/** Claude's tool for asking a person. */
export const askToolName = 'AskUserQuestion';

const inputSchema = z.object({
  questions: z
    .array(
      z.object({
        question: z.string().min(1),
        options: z
          .array(z.object({ label: z.string().min(1), description: z.string().nullish() }))
          .default([]),
        multiSelect: z.boolean().default(false),
      }),
    )
    .min(1),
});

export interface Asking {
  readonly refs: readonly string[];
  readonly events: readonly HarnessEvent[];
}

/** One interaction per question (D-39); `undefined` for an invalid input. */
export function askingOf(id: string, input: Json): Asking | undefined {
  const parsed = inputSchema.safeParse(input);
  if (!parsed.success) return undefined;
  const events = parsed.data.questions.map(
    (
      { question, options, multiSelect },
      index,
    ): Extract<HarnessEvent, { type: 'user_question' }> => ({
      type: 'user_question',
      ref: `${id}.${index + 1}`,
      question,
      ...(options.length > 0 && {
        options: options.map(({ label, description }) => ({
          label,
          ...(typeof description === 'string' && { description }),
        })),
      }),
      ...(multiSelect && { multiple: true }),
    }),
  );
  return { refs: events.map(({ ref }) => ref), events };
}

/** Adds the answers to the tool's input, from which the tool reads them; `undefined` when a person declined one. */
export function answeredInput(
  input: JsonObject,
  answers: readonly Answer[],
): JsonObject | undefined {
  const parsed = inputSchema.safeParse(input);
  if (!parsed.success) return undefined;
  const given: Record<string, string> = {};
  for (const [index, { question }] of parsed.data.questions.entries()) {
    const answer = answers[index];
    if (answer?.kind !== 'question' || 'declined' in answer) return undefined;
    given[question] = answer.values.map(quoted).join(', ');
  }
  return { ...input, answers: given };
}

/** The tool takes several choices as one comma-separated text: a choice that contains a comma must be quoted. */
function quoted(value: string, _: number, all: readonly string[]): string {
  return all.length > 1 && /, |"/.test(value) ? JSON.stringify(value) : value;
}
