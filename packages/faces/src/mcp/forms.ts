import { askedBecause } from '../approvers.ts';
import { chooseOptions } from '../choose-options.ts';
import { type JsonObject, isObject } from '../json.ts';
import { inputText, printable } from '../printable.ts';
import type { AskItem, PermissionItem, QuestionItem } from '../transcript.ts';

/** A form that a client shows to its user: the parameters of `elicitation/create`. */
export interface McpForm {
  readonly message: string;
  readonly requestedSchema: JsonObject;
}

/** The body of `answer_interaction`. */
export type McpAnswer = JsonObject;

/** How much of the agent's words before a question is repeated above it. */
const contextMax = 600;

/** The form that a person fills in (D-219); undefined if it could not show all that they decide on. */
export function formOf(ask: AskItem, said: string): McpForm | undefined {
  return ask.about === 'permission' ? permissionForm(ask) : questionForm(ask, said);
}

/** The answer of the person; undefined if the form was not filled in as it asks. */
export function answerIn(ask: AskItem, content: JsonObject): McpAnswer | undefined {
  if (ask.about === 'permission') {
    const { decision, message } = content;
    if (decision !== 'allow' && decision !== 'deny') return undefined;
    return { decision, ...(typeof message === 'string' && message !== '' && { message }) };
  }
  const { answer, own_words: ownWords } = content;
  const said = typeof ownWords === 'string' && ownWords.trim() !== '' ? ownWords : answer;
  return typeof said === 'string' ? replyTo(ask, said) : undefined;
}

/** Reads the answer to a question: a label or number of its options, or other words. */
export function replyTo(ask: QuestionItem, said: string): McpAnswer | undefined {
  const answer = chooseOptions(said, { options: optionsOf(ask), multiple: isMultiple(ask) });
  return typeof answer === 'object' && 'problem' in answer ? undefined : { answer };
}

/** The question with its options, as a person reads it. */
export function questionText(ask: QuestionItem): string {
  const options = optionsOf(ask);
  const listed = options.map(({ label, description }) =>
    description === undefined ? `- ${label}` : `- ${label}: ${description}`,
  );
  const hint = isMultiple(ask) && listed.length > 0 ? ['Several, separated by commas.'] : [];
  return printable([ask.question, ...listed, ...hint].join('\n'));
}

/** The subject of a question of the service; undefined for a question of the agent itself. */
export function aboutOf({ details: { about } }: QuestionItem): JsonObject | undefined {
  return isObject(about) ? about : undefined;
}

/** Where the user connects the account that a run misses (D-607); undefined for any other request. */
export function connectLinkOf(
  ask: AskItem,
): { readonly url: string; readonly message: string } | undefined {
  if (ask.about !== 'question') return undefined;
  const { kind, url } = aboutOf(ask) ?? {};
  if (kind !== 'connection_missing' || typeof url !== 'string') return undefined;
  return { url, message: printable(ask.question) };
}

interface Option {
  readonly label: string;
  readonly description?: string;
}

function optionsOf({ details: { options } }: QuestionItem): readonly Option[] {
  if (!Array.isArray(options)) return [];
  return options.filter(isObject).flatMap(({ label, description }) => {
    if (typeof label !== 'string') return [];
    return [{ label, ...(typeof description === 'string' && { description }) }];
  });
}

function isMultiple({ details }: QuestionItem): boolean {
  return details['multiple'] === true;
}

function permissionForm(ask: PermissionItem): McpForm | undefined {
  const { name, input: given } = ask;
  const input = inputText(given);
  if (input === undefined) return undefined;
  return {
    message:
      `The agent asks for permission to run ${printable(name)} with this input:\n${input}\n${askedBecause(ask)}`.trimEnd(),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: ['allow', 'deny'] },
        message: { type: 'string', title: 'Message to the agent' },
      },
      required: ['decision'],
    },
  };
}

function questionForm(ask: QuestionItem, said: string): McpForm | undefined {
  const { tool_name: tool, tool_input: input } = aboutOf(ask) ?? {};
  const call = input === undefined ? '' : inputText(input);
  if (call === undefined) return undefined;
  const context = printable(said.slice(-contextMax).trim());
  const parts = [
    context,
    typeof tool === 'string' ? `${printable(tool)} ${call}` : '',
    questionText(ask),
  ];
  const message = parts.filter((part) => part.trim() !== '').join('\n\n');
  const labels = optionsOf(ask).map(({ label }) => label);
  if (labels.length === 0 || isMultiple(ask)) {
    const properties = { answer: { type: 'string', title: 'Answer' } };
    return { message, requestedSchema: { type: 'object', properties, required: ['answer'] } };
  }
  const properties = {
    answer: { type: 'string', title: 'Answer', enum: labels },
    own_words: { type: 'string', title: 'Or in your own words' },
  };
  return { message, requestedSchema: { type: 'object', properties } };
}
