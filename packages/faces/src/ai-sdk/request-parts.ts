import { askUserTool } from '../calls.ts';

/** The key of the interaction that a part of a message shows, if it shows one. */
export function requestKeyOf(part: object): string | undefined {
  const { approval, toolCallId } = part as {
    readonly approval?: { readonly id?: unknown } | null;
    readonly toolCallId?: unknown;
  };
  const key = isQuestionPart(part) ? toolCallId : approval?.id;
  return typeof key === 'string' ? key : undefined;
}

/**
 * Whether a part of a message shows a question: a call of `ask_user`, which a page may declare as a tool of its own.
 */
export function isQuestionPart(part: object): boolean {
  const { type, toolName } = part as { readonly type?: unknown; readonly toolName?: unknown };
  return type === `tool-${askUserTool}` || (type === 'dynamic-tool' && toolName === askUserTool);
}
