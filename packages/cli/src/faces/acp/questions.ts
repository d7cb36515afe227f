import type {
  CreateElicitationResponse,
  ElicitationPropertySchema,
  PermissionOption,
} from '@agentclientprotocol/sdk';
import type { Answer, Json } from '@convoke/sdk';
import type { QuestionItem } from '@convoke/faces';
import { chooseOptions } from '@convoke/faces';
import { printable } from '@convoke/faces/printable';

interface Option {
  readonly label: string;
  readonly description?: string | undefined;
}

/** A question as an editor can show it. */
export interface ShownQuestion {
  /** The question and its options in words. */
  readonly text: string;
  readonly options: readonly Option[];
  readonly multiple: boolean;
  /** A call that may have been carried out: repeating it is a person's decision. */
  readonly isAboutCall: boolean;
}

export function shownQuestion({ question, details }: QuestionItem): ShownQuestion {
  const options = optionsIn(details['options']);
  const { multiple, about } = details;
  const listed = options.map(({ label, description }, index) => {
    const more = description === undefined ? '' : `: ${description}`;
    return `${index + 1}. ${label}${more}`;
  });
  const call = about === undefined ? [] : [JSON.stringify(about, null, 2)];
  return {
    text: printable([question, ...call, ...listed].join('\n')),
    options,
    multiple: multiple === true,
    isAboutCall: about !== undefined,
  };
}

/** Reads the person's words: a label or number of an option, or an answer of their own. */
export function answerIn(
  said: string,
  { options, multiple }: Pick<ShownQuestion, 'options' | 'multiple'>,
): Answer {
  const chosen = chooseOptions(said, { options, multiple });
  // A number that is no option may still be the answer.
  return { answer: typeof chosen === 'object' && 'problem' in chosen ? said : chosen };
}

export function formOf({ options, multiple }: ShownQuestion) {
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: printable(label),
    ...(description !== undefined && { description: printable(description) }),
  }));
  const answer: ElicitationPropertySchema =
    choices.length === 0
      ? { type: 'string', title: 'Answer' }
      : multiple
        ? { type: 'array', title: 'Answer', items: { anyOf: choices } }
        : { type: 'string', title: 'Answer', oneOf: choices };
  const properties: Record<string, ElicitationPropertySchema> = { answer };
  if (choices.length === 0) return { type: 'object' as const, properties, required: ['answer'] };
  // People answer outside the list (D-242).
  properties['answer_custom'] = { type: 'string', title: 'Or in your own words' };
  return { type: 'object' as const, properties };
}

/** The answer in a filled-in form; undefined if it was closed. */
export function answerOf(response: CreateElicitationResponse): Answer | undefined {
  if (response.action === 'decline') return { declined: true };
  if (response.action !== 'accept' || !('content' in response)) return undefined;
  const { answer, answer_custom: custom } = (response.content ?? {}) as Record<string, unknown>;
  if (typeof custom === 'string' && custom.trim() !== '') return { answer: custom };
  if (typeof answer === 'string') return { answer };
  const isList = Array.isArray(answer) && answer.every((each) => typeof each === 'string');
  return isList && answer.length > 0 ? { answer } : undefined;
}

export function permissionOptions(options: readonly Option[]): PermissionOption[] {
  return options.map(({ label }, index) => ({
    optionId: String(index),
    name: printable(label),
    kind: 'allow_once',
  }));
}

function optionsIn(value: Json | undefined): Option[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [];
  return listed.map((each) => each as Option);
}
