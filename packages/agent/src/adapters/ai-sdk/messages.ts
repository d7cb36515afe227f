import type { Json } from '../../json.ts';

/** A part of a message, as far as approvals need it. */
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

/** The input that the SDK parsed is part of the request, where it differs from the call's: it is another one now. */
export function withInput(part: Part, inputs: ReadonlyMap<string | undefined, Json>): Part {
  const input = inputs.get(part.toolCallId);
  if (input === undefined) return part;
  if (part.type === 'tool-call') return { ...part, input };
  const { inputSchemaInput: _, ...rest } = part;
  return rest;
}

/** The SDK draws other ids of requests in every leg, and the session remembers them. */
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
