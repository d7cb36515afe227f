import type { Answer, InteractionRecord } from '@convoke/sdk';
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import { chooseOptions } from '@convoke/faces';
import { printable } from '../../terminal/output.ts';
import { inputText } from '../asked-input.ts';

type Form = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>;

/** How much of the agent's words before a question is repeated above it. */
const contextMax = 600;

/** The form that a person fills in (D-219); undefined if it could not show all that they decide on. */
export function formOf(ask: InteractionRecord, said: string): Form | undefined {
  return ask.kind === 'permission' ? permissionForm(ask) : questionForm(ask, said);
}

/** What the person answered; undefined if the form was not filled in as it was asked for. */
export function answerIn(
  ask: InteractionRecord,
  content: Readonly<Record<string, unknown>>,
): Answer | undefined {
  if (ask.kind === 'permission') {
    const { decision, message } = content;
    if (decision !== 'allow' && decision !== 'deny') return undefined;
    return { decision, ...(typeof message === 'string' && message !== '' && { message }) };
  }
  const { answer, own_words: ownWords } = content;
  const said = typeof ownWords === 'string' && ownWords.trim() !== '' ? ownWords : answer;
  return typeof said === 'string' ? replyTo(ask, said) : undefined;
}

/** Reads the answer to a question: a label or number of its options, or other words. */
export function replyTo(
  { options = [], multiple = false }: InteractionRecord,
  said: string,
): Answer | undefined {
  const answer = chooseOptions(said, { options, multiple });
  return typeof answer === 'object' && 'problem' in answer ? undefined : { answer };
}

/** The question with its options, as a person reads it. */
export function questionText({ question = '', options = [], multiple }: InteractionRecord): string {
  const listed = options.map(({ label, description }) =>
    description === undefined ? `- ${label}` : `- ${label}: ${description}`,
  );
  const hint = multiple === true && listed.length > 0 ? ['Several, separated by commas.'] : [];
  return printable([question, ...listed, ...hint].join('\n'));
}

function permissionForm({ tool_name = '', tool_input }: InteractionRecord): Form | undefined {
  const input = inputText(tool_input);
  if (input === undefined) return undefined;
  return {
    message: `The agent asks for permission to run ${printable(tool_name)} with this input:\n${input}`,
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

function questionForm(ask: InteractionRecord, said: string): Form | undefined {
  const { options = [], multiple = false, about } = ask;
  const call = about?.tool_input === undefined ? '' : inputText(about.tool_input);
  if (call === undefined) return undefined;
  const context = printable(said.slice(-contextMax).trim());
  const parts = [
    context,
    about && `${printable(about.tool_name ?? '')} ${call}`,
    questionText(ask),
  ];
  const message = parts.filter((part) => part !== undefined && part.trim() !== '').join('\n\n');
  const labels = options.map(({ label }) => label);
  if (labels.length === 0 || multiple) {
    const properties = { answer: { type: 'string' as const, title: 'Answer' } };
    return { message, requestedSchema: { type: 'object', properties, required: ['answer'] } };
  }
  const properties = {
    answer: { type: 'string' as const, title: 'Answer', enum: labels },
    own_words: { type: 'string' as const, title: 'Or in your own words' },
  };
  return { message, requestedSchema: { type: 'object', properties } };
}
