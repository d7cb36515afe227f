import { type InteractionKey, idPattern, interactionKey } from '@convoke/contract';
import type { Interaction } from '../../../domain/interaction.ts';
import { type Json, type JsonObject, isObject } from '../../../domain/json.ts';
import { refuse } from '../../refusal.ts';
import { inputOfMessage } from '../message-input.ts';

/** The body of a request, of which the protocol owns all other fields. */
export interface AgUiBody {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly JsonObject[];
  readonly resume?:
    | readonly {
        readonly interruptId: string;
        readonly status: 'resolved' | 'cancelled';
        readonly payload?: Json | undefined;
      }[]
    | undefined;
  readonly [field: string]: unknown;
}

/** The intent of an AG-UI request (D-211). */
export type AgUiAsked =
  | { readonly kind: 'message'; readonly input: JsonObject }
  | { readonly kind: 'resume'; readonly entries: readonly ResumeEntry[] }
  | { readonly kind: 'connect' };

export interface ResumeEntry {
  readonly interruptId: string;
  /** Undefined for an id that no interaction can have. */
  readonly key: InteractionKey | undefined;
  readonly status: 'resolved' | 'cancelled';
  readonly payload: Json | undefined;
}

export function askedIn({ messages, resume, forwardedProps }: AgUiBody): AgUiAsked {
  if (resume !== undefined && resume.length > 0) {
    return { kind: 'resume', entries: resume.map(entryOf) };
  }
  const last = messages.at(-1);
  if (last?.['role'] !== 'user') return { kind: 'connect' };
  const text = textOf(last['content']);
  const data = dataIn(forwardedProps);
  if (text === '' && data.length === 0) {
    return refuse('invalid_body', { message: 'The last message has no text.' });
  }
  return { kind: 'message', input: inputOfMessage({ text, data }) };
}

/** Other members of the run's input: the protocol has no place of its own for them (D-570). */
function dataIn(forwarded: unknown): readonly JsonObject[] {
  const input = isObject(forwarded as Json) ? (forwarded as JsonObject)['input'] : undefined;
  if (input === undefined || input === null) return [];
  if (isObject(input)) return [input];
  return refuse('invalid_body', { message: 'forwardedProps.input must be an object.' });
}

function entryOf({ interruptId, status, payload }: NonNullable<AgUiBody['resume']>[number]) {
  const key = idPattern.test(interruptId) ? interactionKey(interruptId) : undefined;
  return { interruptId, key, status, payload };
}

/** The text of a message. Other parts would be lost without a word, so they are refused. */
function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? (content as readonly Json[]) : [];
  const texts = parts.map((part) => {
    if (isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string') {
      return part['text'];
    }
    return refuse('not_supported', {
      message:
        'A message has text only. Upload files with the file operations and name them in the text.',
    });
  });
  return texts.join('\n\n');
}

/** Fields that are not read: the agent's tools and its state are on the server (D-213). */
export function ignoredIn(body: AgUiBody): readonly string[] {
  const { messages, resume } = body;
  // A message beside answers: the run that they continue cannot take it.
  const isLost = (resume?.length ?? 0) > 0 && messages.at(-1)?.['role'] === 'user';
  const named = (['tools', 'state', 'context'] as const).filter((name) => hasContent(body[name]));
  return isLost ? ['messages', ...named] : named;
}

function hasContent(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** The body of `answer_interaction`. */
export function answerIn(
  { kind }: Pick<Interaction, 'kind'>,
  { interruptId, status, payload }: ResumeEntry,
): JsonObject {
  if (status === 'cancelled') {
    return kind === 'permission' ? { decision: 'deny' } : { declined: true };
  }
  const given = isObject(payload) ? payload : {};
  if (kind === 'question') return { answer: given['answer'] ?? null };
  const { approved, editedArgs, message } = given;
  if (typeof approved !== 'boolean') {
    return refuse('invalid_answer', {
      message: `The payload for ${interruptId} has no approved, which is true or false.`,
    });
  }
  return {
    decision: approved ? 'allow' : 'deny',
    ...(editedArgs !== undefined && { updated_input: editedArgs }),
    ...(message !== undefined && { message }),
  };
}
