import type { Json } from '../../json.ts';

/** The fields of a message part that approvals use. */
export interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: Json;
  readonly approvalId?: string;
  readonly isAutomatic?: boolean;
  readonly inputSchemaInput?: Json;
}

export interface Message {
  readonly role: string;
  readonly content: string | readonly Part[];
}

/** Replaces the input of a call. The request may contain the input as the SDK parsed it, which no longer holds. */
export function withInput(part: Part, inputs: ReadonlyMap<string | undefined, Json>): Part {
  const input = inputs.get(part.toolCallId);
  if (input === undefined) return part;
  if (part.type === 'tool-call') return { ...part, input };
  const { inputSchemaInput: _, ...rest } = part;
  return rest;
}

/** Replaces the ids of approval requests: the SDK draws new ones in every leg, and the session stores them. */
export function withOwnIds(message: Message): Message {
  return mapParts(message, (part) =>
    isOpenRequest(part) ? { ...part, approvalId: part.toolCallId ?? '' } : part,
  );
}

export function isOpenRequest({ type, isAutomatic }: Part): boolean {
  return type === 'tool-approval-request' && isAutomatic !== true;
}

export function mapParts(message: Message, map: (part: Part) => Part): Message {
  const { content } = message;
  return typeof content === 'string' ? message : { ...message, content: content.map(map) };
}

export function partsOf(messages: readonly Message[]): readonly Part[] {
  return messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
}
