import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationContentValue,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { Answer, HarnessEvent } from '../../ports/harness.ts';

/** A form with more fields is declined: a person cannot be asked that many questions. */
const fieldsMax = 20;

const text = z.string().nullish();
const choice = z.object({ const: z.string(), title: text, description: text });
const field = z.object({
  type: z.string(),
  title: text,
  description: text,
  enum: z.array(z.string()).nullish(),
  oneOf: z.array(choice).nullish(),
  items: z
    .object({ enum: z.array(z.string()).nullish(), anyOf: z.array(choice).nullish() })
    .nullish(),
});
const form = z.object({
  mode: z.literal('form'),
  message: z.string(),
  requestedSchema: z.object({
    properties: z.custom<object>(isOfFewFields).pipe(z.record(z.string(), field)).default({}),
  }),
});
/** Each field may have a companion. A schema would look at all of them first. */
function isOfFewFields(properties: unknown): boolean {
  if (typeof properties !== 'object' || properties === null) return false;
  return Object.keys(properties).length <= 2 * fieldsMax;
}

type Field = z.infer<typeof field>;
type Choice = z.infer<typeof choice>;

/** One field of a form, asked as one question (D-39: one interaction per question). */
export interface Question {
  readonly name: string;
  /** Field for an answer that is not one of the choices. */
  readonly otherName: string | undefined;
  readonly type: string;
  readonly choices: readonly Choice[];
  readonly question: string;
  readonly multiple: boolean;
}

/** Returns the questions of a form; `undefined` for a request that is not supported (another mode, too many fields). */
export function questionsOf(request: CreateElicitationRequest): readonly Question[] | undefined {
  const parsed = form.safeParse(request);
  if (!parsed.success) return undefined;
  const { message, requestedSchema } = parsed.data;
  const fields = Object.entries(requestedSchema.properties);
  const names = new Set(fields.map(([name]) => name));
  const asked = fields.filter(([name]) => !isCompanion(name, names));
  if (asked.length > fieldsMax) return undefined;
  if (asked.length === 0) return [confirmation(message)];
  return asked.map(([name, schema]) => ({
    name,
    otherName: names.has(companionOf(name)) ? companionOf(name) : undefined,
    type: schema.type,
    choices: choicesOf(schema),
    question: asked.length === 1 ? message : (schema.description ?? schema.title ?? message),
    multiple: schema.type === 'array',
  }));
}

export function questionEvent(question: Question, ref: string): HarnessEvent {
  const options = question.choices.map(({ const: value, title, description }) => ({
    label: title ?? value,
    ...(typeof description === 'string' && { description }),
  }));
  return {
    type: 'user_question',
    ref,
    question: question.question,
    ...(options.length > 0 && { options }),
    ...(question.multiple && { multiple: true }),
  };
}

/** Declining one question declines the whole form: an agent cannot use a partial one. */
export function responseTo(
  questions: readonly Question[],
  answers: readonly Answer[],
): CreateElicitationResponse {
  const content: Record<string, ElicitationContentValue> = {};
  for (const [index, question] of questions.entries()) {
    const answer = answers[index];
    if (answer?.kind !== 'question' || 'declined' in answer) return { action: 'decline' };
    const filled = fill(question, answer.values);
    if (filled === undefined) return { action: 'decline' };
    Object.assign(content, filled);
  }
  delete content[confirmationName];
  return { action: 'accept', content };
}

/** `undefined` when the text does not fit the field, such as text in a number field. */
function fill(
  { name, otherName, type, choices, multiple }: Question,
  values: readonly string[],
): Record<string, ElicitationContentValue> | undefined {
  const known = new Map(choices.map(({ const: value, title }) => [title ?? value, value]));
  const chosen = values.flatMap((value) => known.get(value) ?? []);
  const others = values.filter((value) => !known.has(value));
  if (choices.length > 0 && otherName !== undefined && others.length > 0) {
    const other = { [otherName]: others.join(', ') };
    return multiple && chosen.length > 0 ? { [name]: chosen, ...other } : other;
  }
  if (multiple) return { [name]: [...chosen, ...others] };
  const value = chosen[0] ?? values.join(', ');
  switch (type) {
    case 'boolean': {
      const isYes = /^(yes|y|true)$/i.test(value.trim());
      return isYes || name !== confirmationName ? { [name]: isYes } : undefined;
    }
    case 'number':
    case 'integer':
      return value.trim() === '' || Number.isNaN(Number(value))
        ? undefined
        : { [name]: Number(value) };
    default:
      return { [name]: value };
  }
}

const yesOrNo: readonly Choice[] = [
  { const: 'yes', title: 'Yes' },
  { const: 'no', title: 'No' },
];
/** Stands for a form without fields, which is asked as a yes-or-no question. */
const confirmationName = '';

function confirmation(message: string): Question {
  const shape = { name: confirmationName, otherName: undefined, type: 'boolean' } as const;
  return { ...shape, choices: yesOrNo, question: message, multiple: false };
}

function choicesOf(schema: Field): readonly Choice[] {
  if (schema.type === 'boolean') return yesOrNo;
  const titled = schema.oneOf ?? schema.items?.anyOf;
  if (titled) return titled;
  return (schema.enum ?? schema.items?.enum ?? []).map((value) => ({ const: value }));
}

/** Some agents add a free-text field to each of their questions. */
function companionOf(name: string): string {
  return `${name}_custom`;
}

function isCompanion(name: string, names: ReadonlySet<string>): boolean {
  return name.endsWith('_custom') && names.has(name.slice(0, -'_custom'.length));
}
