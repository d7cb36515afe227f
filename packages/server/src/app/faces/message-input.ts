import type { JsonObject } from '../../domain/json.ts';

/** A message of a client: its words, and data for the other members of the input. */
export interface MessageInput {
  readonly text: string;
  readonly data: readonly JsonObject[];
}

/** The input that a message starts a run with (D-570). Without words it has a prompt only where the data has one. */
export function inputOfMessage({ text, data }: MessageInput): JsonObject {
  const members = data.reduce<JsonObject>((all, part) => ({ ...all, ...part }), {});
  return text === '' ? members : { ...members, prompt: text };
}
