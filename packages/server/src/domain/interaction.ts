import type {
  InteractionKey,
  InteractionKind,
  InteractionStatus,
  RunId,
  SessionId,
} from '@convoke/contract';
import { type Json, type JsonObject, canonicalJson } from './json.ts';
import { type Ruling, accepted, refused } from './refusal.ts';
import type { TenantScope } from './scope.ts';

/**
 * A person is needed: to allow a tool call, or to answer a question. A row, so it survives anything.
 *
 * `pending` is left exactly once: to `answered` by a person, to `expired` by time, to `cancelled` with its
 * run or session. `appliedAt` is set when the leg that acts on the answer is claimed: from then on an
 * allow is spent, whatever becomes of that leg.
 */
export interface Interaction extends TenantScope {
  readonly key: InteractionKey;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly kind: InteractionKind;
  readonly status: InteractionStatus;
  /** The harness's name for it; appears in events, never answers (spec §6.6). */
  readonly requestId: string;
  readonly toolName: string | null;
  readonly toolInput: Json | null;
  readonly question: string | null;
  readonly options: readonly { readonly label: string; readonly description?: string }[] | null;
  readonly multiple: boolean;
  readonly answer: InteractionAnswer | null;
  readonly answeredBy: string | null;
  readonly createdAt: number;
  readonly answeredAt: number | null;
  readonly appliedAt: number | null;
  readonly expiresAt: number | null;
}

export type InteractionAnswer =
  | {
      readonly kind: 'permission';
      readonly decision: 'allow' | 'deny';
      readonly message?: string;
      readonly updatedInput?: Json;
    }
  | { readonly kind: 'question'; readonly answer: string | readonly string[] }
  | { readonly kind: 'question'; readonly declined: true; readonly message?: string };

export type AnswerRuling = { readonly repeated: boolean; readonly interaction: Interaction };

/** D-38: the first answer wins; the identical one again is harmless; any other is refused. */
export function answerInteraction(
  interaction: Interaction,
  answer: InteractionAnswer,
  by: { readonly actor: string; readonly now: number },
): Ruling<AnswerRuling> {
  switch (interaction.status) {
    case 'pending':
      return accepted({
        repeated: false,
        interaction: {
          ...interaction,
          status: 'answered',
          answer,
          answeredBy: by.actor,
          answeredAt: by.now,
        },
      });
    case 'answered':
      return isSameAnswer(interaction.answer, answer)
        ? accepted({ repeated: true, interaction })
        : refused('interaction_answered');
    case 'expired':
    case 'cancelled':
      return refused('interaction_not_pending');
    default:
      return interaction.status satisfies never;
  }
}

/** What the person allowed is what was shown, or what they put in its place; nothing else may run (D-39). */
export function approvedInput(interaction: Interaction): Json {
  const { answer } = interaction;
  if (answer?.kind === 'permission' && answer.updatedInput !== undefined)
    return answer.updatedInput;
  return interaction.toolInput;
}

/** The event that announces the decision or the answer. */
export function answeredEvent(
  key: InteractionKey,
  answer: InteractionAnswer,
): { type: string; data: JsonObject } {
  if (answer.kind === 'permission') {
    return {
      type: 'permission_resolved',
      data: {
        interaction_key: key,
        decision: answer.decision,
        ...(answer.message === undefined ? {} : { message: answer.message }),
        ...(answer.updatedInput === undefined ? {} : { updated_input: answer.updatedInput }),
      },
    };
  }
  if ('declined' in answer) {
    return {
      type: 'user_answered',
      data: {
        interaction_key: key,
        declined: true,
        ...(answer.message === undefined ? {} : { message: answer.message }),
      },
    };
  }
  return { type: 'user_answered', data: { interaction_key: key, answer: answer.answer } };
}

function isSameAnswer(known: InteractionAnswer | null, given: InteractionAnswer): boolean {
  return known !== null && canonicalJson(plain(known)) === canonicalJson(plain(given));
}

function plain(answer: InteractionAnswer): JsonObject {
  return { ...answer };
}
