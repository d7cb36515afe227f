import type { Json } from './json.ts';
import type { KitMessage, WaitKind } from './lines.ts';

export type Question = Omit<Extract<KitMessage, { type: 'user_question' }>, 'type' | 'ref'>;
export type Decision =
  | { readonly allowed: true; readonly value: unknown }
  | { readonly allowed: false; readonly reason?: string };

/** A time or a message that a function waits for. */
export interface WaitedFor {
  readonly method: 'sleep' | 'receive';
  readonly kind: WaitKind;
  readonly name: string;
  readonly end: Pick<Extract<KitMessage, { type: 'wait' }>, 'for_seconds' | 'until'>;
}

export interface ModelRequest {
  readonly model: string;
  /** Roles and call ids of the conversation. A stored answer is only used for the same shape (D-174). */
  readonly shape: Json;
}

/** The order in which a step, and what must not be inside it, are written. */
export function remedyOf(event: string): string | undefined {
  if (/^ctx\.(ask|approve)|^an approval/.test(event)) return 'Ask first, then start the step.';
  if (event.startsWith('ctx.callbackUrl')) return 'Make the URL first, then start the step.';
  const isWait = /^ctx\.(sleep|receive|call)\b/.test(event);
  return isWait ? 'Wait first, then start the step.' : undefined;
}
