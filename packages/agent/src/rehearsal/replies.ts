import type { Json, JsonObject } from '../json.ts';
import type { Answer, KitMessage } from '../lines.ts';

/** A question or a request for approval, as a person sees it. */
export type RehearsedInteraction =
  | { readonly kind: 'question'; readonly question: string; readonly options: readonly string[] }
  | { readonly kind: 'permission'; readonly tool: string; readonly input: Json };

/**
 * For a question one or several strings, or undefined to decline. For a permission a boolean, or the approved input.
 */
export type Reply =
  | string
  | readonly string[]
  | boolean
  | undefined
  | { readonly allow: true; readonly input: Json }
  | { readonly allow: false; readonly reason?: string }
  /** No answer for now: it is asked for again when something else that the run waits for has come. */
  | { readonly later: true };

type GivenReply = Exclude<Reply, { readonly later: true }>;

export function defaultReply(asked: RehearsedInteraction): Reply {
  return asked.kind === 'permission' ? true : (asked.options[0] ?? 'yes');
}

export function answerOf(asked: RehearsedInteraction, reply: GivenReply): Answer {
  if (asked.kind === 'question') {
    if (reply === undefined) return { kind: 'question', declined: true, reason: null };
    const values = typeof reply === 'object' && !('allow' in reply) ? reply : [textOf(reply)];
    return { kind: 'question', values };
  }
  if (typeof reply === 'object' && 'allow' in reply) {
    return reply.allow
      ? { kind: 'permission', allow: true, input: reply.input }
      : { kind: 'permission', allow: false, reason: reply.reason ?? null };
  }
  return reply === true
    ? { kind: 'permission', allow: true, input: asked.input }
    : { kind: 'permission', allow: false, reason: null };
}

function textOf(reply: GivenReply): string {
  return typeof reply === 'string' ? reply : JSON.stringify(reply);
}

export function labels(
  options: Extract<KitMessage, { type: 'user_question' }>['options'],
): string[] {
  return (options ?? []).map((option) => (typeof option === 'string' ? option : option.label));
}

/** Why a person does not allow it; undefined without such an answer. */
export function denialIn(answer: Answer | undefined): string | undefined {
  if (answer?.kind !== 'permission' || answer.allow) return undefined;
  return answer.reason ?? 'The person did not allow this.';
}

export function approvedIn(answer: Answer | undefined): JsonObject | undefined {
  if (answer?.kind !== 'permission' || !answer.allow) return undefined;
  return answer.input as JsonObject;
}

export function copied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
