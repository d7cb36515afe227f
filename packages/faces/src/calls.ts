import type { Json, JsonObject } from './json.ts';
import type { PermissionItem, QuestionItem } from './transcript.ts';

/** The name of the tool as which questions are shown. */
export const askUserTool = 'ask_user';

/** A call as a client shows it. */
export interface ClientCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly isQuestion: boolean;
}

export function permissionCall({ call: id, name, input }: PermissionItem): ClientCall {
  return { id, name, input, isQuestion: false };
}

export function questionCall({ key: id, question, details }: QuestionItem): ClientCall {
  return { id, name: askUserTool, input: { question, ...details }, isQuestion: true };
}

/** The answer to a question, from the payload of `user_answered`. */
export function answerOf({ answer, message }: JsonObject): Json {
  if (answer !== undefined) return answer;
  return { declined: true, ...(message !== undefined && { message }) };
}

/** The text that the client shows as the result of a denied call. */
export function deniedText(message: Json | undefined): string {
  const reason = typeof message === 'string' && message !== '' ? `: ${message}` : '.';
  return `A person denied this call${reason}`;
}

export function textOfOutput(output: Json): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
