import { type InteractionKey, idPattern, interactionKey, limits } from '@convoke/contract';
import { isQuestionPart, requestKeyOf } from '@convoke/faces';
import { refuse } from '../../refusal.ts';
import { type Json, type JsonObject, isObject } from '../../../domain/json.ts';

/** A message of the AI SDK's UI, as far as it is read: the library owns its shape (D-193). */
export type UiInput = UserMessage | AssistantMessage;

export interface UserMessage {
  readonly role: 'user';
  readonly id: string;
  readonly text: string;
  readonly files: readonly FilePart[];
  /** Its `data-input` parts: other members of the run's input. */
  readonly data: readonly JsonObject[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly answers: readonly PartAnswer[];
  /** Keys of the interactions that the message shows. */
  readonly shown: readonly string[];
  readonly lastEventId: string | undefined;
}

export interface FilePart {
  readonly url: string;
  readonly mediaType: string;
  readonly filename: string | undefined;
}

export interface PartAnswer {
  readonly key: InteractionKey;
  /** The body of `answer_interaction`. */
  readonly body: JsonObject;
}

/** Parts of a user's message. */
const userPartsMax = 200;

/** It becomes part of an idempotency key. */
const messageId = new RegExp(`^[^\\u0000-\\u001f\\u007f]{1,${limits.nameMaxCharacters}}$`, 'u');

/** Reads the last message; the others are in the session. */
export function readUiMessage(messages: readonly JsonObject[]): UiInput {
  const message = messages.at(-1) ?? {};
  const { role, parts } = message;
  if (!Array.isArray(parts)) return invalid('has no parts');
  const known = (parts as readonly Json[]).filter(isObject);
  if (role === 'assistant') return assistantOf(message, known);
  if (role !== 'user') return invalid('must have the role user or assistant');
  if (parts.length > userPartsMax) return invalid(`has more than ${userPartsMax} parts`);
  const { id } = message;
  if (typeof id !== 'string' || !messageId.test(id) || !id.isWellFormed()) {
    const most = limits.nameMaxCharacters;
    return invalid(`has no id of 1 to ${most} characters without control characters`);
  }
  const texts = known.flatMap(({ type, text }) => (type === 'text' ? (textOf(text) ?? []) : []));
  const files = known.flatMap((part) => (part['type'] === 'file' ? [fileOf(part)] : []));
  const text = texts.join('\n\n');
  const data = known.flatMap((part) => (part['type'] === 'data-input' ? [dataOf(part)] : []));
  if (text === '' && files.length === 0 && data.length === 0) {
    return invalid('has neither text, nor a file, nor data');
  }
  return { role, id, text, files, data };
}

function dataOf({ data }: JsonObject): JsonObject {
  return isObject(data) ? data : invalid('has a data-input part whose data is not an object');
}

function fileOf({ url, mediaType, filename }: JsonObject): FilePart {
  const place = textOf(url) ?? invalid('has a file without a url');
  const type = textOf(mediaType) ?? 'application/octet-stream';
  return { url: place, mediaType: type, filename: textOf(filename) };
}

function assistantOf({ metadata }: JsonObject, parts: readonly JsonObject[]): UiInput {
  const answers = parts.flatMap(answerIn);
  const shown = parts.flatMap((part) => keyOf(part) ?? []);
  const position = isObject(metadata) ? textOf(metadata['last_event_id']) : undefined;
  return { role: 'assistant', answers, shown, lastEventId: position };
}

function answerIn(part: JsonObject): readonly PartAnswer[] {
  const key = keyOf(part);
  if (key === undefined) return [];
  const { state, approval, output, errorText } = part;
  if (!isQuestionPart(part)) {
    if (state !== 'approval-responded' || !isObject(approval)) return [];
    const decision = approval['approved'] === true ? 'allow' : 'deny';
    const message = textOf(approval['reason']);
    return [{ key, body: { decision, ...(message !== undefined && { message }) } }];
  }
  if (state === 'output-error') {
    const message = textOf(errorText);
    return [{ key, body: { declined: true, ...(message !== undefined && { message }) } }];
  }
  if (state !== 'output-available') return [];
  return [{ key, body: isObject(output) ? output : { answer: output ?? null } }];
}

/** The interaction that a part shows, if it shows one. */
function keyOf(part: JsonObject): InteractionKey | undefined {
  const key = requestKeyOf(part) ?? '';
  return idPattern.test(key) ? interactionKey(key) : undefined;
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function invalid(what: string): never {
  return refuse('invalid_body', { message: `The last message ${what}.` });
}
