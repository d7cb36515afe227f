import type { InteractionKey, InteractionStatus, RunId, SessionId } from '@convoke/contract';
import { isoTime } from './iso-time.ts';
import { type Json, type JsonObject, canonicalJson } from './json.ts';
import { type Ruling, accepted, refused } from './refusal.ts';
import type { AskingRule } from './rules/decide.ts';
import { deniesOnExpiry, limitsTime } from './rules/demands.ts';
import type { TenantScope } from './scope.ts';

/**
 * A request of a run to a person: for permission to call a tool, or for the answer to a question. It is a
 * row, so it survives the process that raised it.
 *
 * - `pending`: not answered yet. It leaves this state exactly once.
 * - `answered`: by a person. `appliedAt` is set when the leg that acts on the answer is claimed: from then
 *   on an allow is spent, whatever happens to that leg.
 * - `expired`: its time ran out. Where its rules say that this denies the call, the run continues as after an answer.
 * - `cancelled`: its run or its session ended.
 */
export type Interaction = PendingInteraction | ClosedInteraction | SettledInteraction;

/** Its run continues with what was decided. */
export type SettledInteraction = AnsweredInteraction | ExpiredDenial;

export type PendingInteraction = Identity & InteractionRequest & { readonly status: 'pending' };

export type ClosedInteraction = Identity &
  InteractionRequest & { readonly status: 'expired' | 'cancelled' };

export type AnsweredInteraction = AnsweredPermission | AnsweredQuestion;
export type AnsweredPermission = Identity &
  PermissionRequest &
  Answered<PermissionAnswer> & {
    /** The ref of the call that has used the allow (D-519). */
    readonly spentOn?: string;
  };
export type AnsweredQuestion = Identity & UserQuestion & Answered<QuestionAnswer>;

/** No answer came in time, and the rules that asked say that this denies the call (D-522). */
export type ExpiredDenial = Identity &
  PermissionRequest &
  Omit<Answered<PermissionAnswer>, 'status'> & {
    readonly status: 'expired';
    readonly answeredBy: null;
    readonly decidedBy: 'expiry';
  };

interface Identity extends TenantScope {
  readonly key: InteractionKey;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** The harness's name for it; appears in events, never answers (spec §6.6). */
  readonly requestId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What decided about a permission instead of a person (D-510, D-521, D-522). */
export type DecidedBy = 'rule' | 'memory' | 'expiry';

export type InteractionRequest = PermissionRequest | UserQuestion;

export interface PermissionRequest {
  readonly kind: 'permission';
  readonly toolName: string;
  readonly toolInput: Json;
  /** The rules that asked, as they were then (D-515). */
  readonly asked?: readonly AskingRule[];
}

export interface UserQuestion {
  readonly kind: 'question';
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description?: string }[] | null;
  /** Whether the person may choose several options. */
  readonly multiple: boolean;
  /** Set when the service asks, not the agent. */
  readonly about: QuestionAbout | null;
}

export type QuestionAbout = CallInDoubt | WorkspaceBehind;

/** D-91: the machine with the latest files of the session is gone. */
export interface WorkspaceBehind {
  readonly kind: 'workspace_behind';
  /** Calls whose changes are in no archive, the first of them. */
  readonly calls: readonly Pick<CallInDoubt, 'toolName' | 'begunAt'>[];
}

/** D-84: a call that was begun by a worker that is gone. */
export interface CallInDoubt {
  readonly kind: 'call_in_doubt';
  readonly toolName: string;
  readonly toolInput: Json;
  readonly begunAt: number;
}

/** The wire form, for the record and for the event. */
export function aboutFields(about: QuestionAbout) {
  const { kind } = about;
  if (kind === 'call_in_doubt') {
    const { toolName, toolInput, begunAt } = about;
    return { kind, tool_name: toolName, tool_input: toolInput, begun_at: isoTime(begunAt) };
  }
  const calls = about.calls.map(({ toolName, begunAt }) => ({
    tool_name: toolName,
    begun_at: isoTime(begunAt),
  }));
  return { kind, calls };
}

interface Answered<Answer> {
  readonly status: 'answered';
  readonly answer: Answer;
  /** Null where no person and no client decided: then `decidedBy` says what did. */
  readonly answeredBy: string | null;
  readonly decidedBy?: DecidedBy;
  readonly answeredAt: number;
  readonly appliedAt: number | null;
}

export type InteractionAnswer = PermissionAnswer | QuestionAnswer;

export interface PermissionAnswer {
  readonly kind: 'permission';
  readonly decision: 'allow' | 'deny';
  readonly message?: string;
  readonly updatedInput?: Json;
}

export type QuestionAnswer =
  | { readonly kind: 'question'; readonly answer: string | readonly string[] }
  | { readonly kind: 'question'; readonly declined: true; readonly message?: string };

export type NewInteraction = Omit<Identity, 'createdAt' | 'expiresAt'> & {
  readonly request: InteractionRequest;
  readonly waitMs: number;
};

export function openInteraction(
  { request, waitMs, ...identity }: NewInteraction,
  now: number,
): PendingInteraction {
  return { ...identity, ...request, status: 'pending', createdAt: now, expiresAt: now + waitMs };
}

/** D-510: a request that a rule has answered before it reached a person. */
export function deniedByRule(
  {
    request,
    reason,
    ...identity
  }: Omit<NewInteraction, 'request' | 'waitMs'> & {
    readonly request: PermissionRequest;
    readonly reason: string;
  },
  now: number,
): AnsweredPermission {
  return {
    ...identity,
    ...request,
    status: 'answered',
    answer: { kind: 'permission', decision: 'deny', message: reason },
    answeredBy: null,
    decidedBy: 'rule',
    createdAt: now,
    expiresAt: now,
    answeredAt: now,
    appliedAt: null,
  };
}

export interface AnswerRuling {
  /** True when the same answer was recorded before. */
  readonly repeated: boolean;
  readonly interaction: AnsweredInteraction;
}

/** D-38: the first answer wins. The same one again changes nothing; any other is refused. */
export function answerInteraction(
  interaction: Interaction,
  answer: InteractionAnswer,
  by: { readonly actor: string; readonly now: number },
): Ruling<AnswerRuling> {
  switch (interaction.status) {
    case 'pending': {
      if (hasExpired(interaction, by.now)) return refused('interaction_not_pending');
      const answered = withAnswer(interaction, answer, by);
      return answered === undefined
        ? refused('invalid_answer')
        : accepted({ repeated: false, interaction: answered });
    }
    case 'answered':
      return isSameAnswer(interaction.answer, answer)
        ? accepted({ repeated: true, interaction })
        : refused('interaction_answered');
    case 'expired':
    case 'cancelled':
      return refused('interaction_not_pending');
    default:
      return interaction satisfies never;
  }
}

/** Undefined when the answer is not of the kind that was asked for. */
function withAnswer(
  interaction: PendingInteraction,
  answer: InteractionAnswer,
  by: { readonly actor: string; readonly now: number },
): AnsweredInteraction | undefined {
  const answered = {
    status: 'answered',
    answeredBy: by.actor,
    answeredAt: by.now,
    appliedAt: null,
  } as const;
  if (interaction.kind === 'permission' && answer.kind === 'permission') {
    return { ...interaction, ...answered, answer };
  }
  if (interaction.kind === 'question' && answer.kind === 'question') {
    return { ...interaction, ...answered, answer };
  }
  return undefined;
}

/** Its time is over, even if no worker has stored that yet. */
function hasExpired({ expiresAt }: Pick<Interaction, 'expiresAt'>, now: number): boolean {
  return expiresAt < now;
}

/** The interaction at `now`. */
/** The status that a stored one has by now. */
export function statusAt(
  { status, expiresAt }: Pick<Interaction, 'status' | 'expiresAt'>,
  now: number,
): InteractionStatus {
  return status === 'pending' && hasExpired({ expiresAt }, now) ? 'expired' : status;
}

export function interactionAt(interaction: Interaction, now: number): Interaction {
  const isOver = interaction.status === 'pending' && hasExpired(interaction, now);
  return isOver ? { ...interaction, status: 'expired' } : interaction;
}

/** D-25, D-522: without an answer in time it denies the call if its rules say so; else it only ends. */
export function expireInteraction(
  interaction: PendingInteraction,
  now: number,
): ClosedInteraction | ExpiredDenial {
  const isDenial = interaction.kind === 'permission' && deniesOnExpiry(interaction.asked ?? []);
  if (!isDenial) return { ...interaction, status: 'expired' };
  return {
    ...interaction,
    status: 'expired',
    answer: { kind: 'permission', decision: 'deny', message: noAnswerInTime },
    answeredBy: null,
    decidedBy: 'expiry',
    answeredAt: now,
    appliedAt: null,
  };
}

/** For the agent, and for people who read the log. */
const noAnswerInTime = 'Not allowed: no answer came in time.';

export function isSettled(interaction: Interaction): interaction is SettledInteraction {
  return 'answer' in interaction;
}

/** The input a person allowed: the one shown, or the one they replaced it with. No other may run (D-39). */
export function approvedInput({
  toolInput,
  answer,
}: Pick<AnsweredPermission, 'toolInput' | 'answer'>): Json {
  return answer.updatedInput === undefined ? toolInput : answer.updatedInput;
}

/** Id of the client or person that answered; undefined before an answer, and where none of them decided. */
export function answererOf(interaction: Interaction): string | undefined {
  return interaction.status === 'answered' ? (interaction.answeredBy ?? undefined) : undefined;
}

/** The rules that asked, as people see them. */
export function askedRules(asked: readonly AskingRule[]) {
  return asked.map(({ source, name, reason }) => ({
    source,
    name,
    ...(reason !== undefined && { reason }),
  }));
}

/** The event that announces the request. */
export function requestEvent(interaction: Interaction): { type: string; data: JsonObject } {
  const { requestId: request_id, key: interaction_key } = interaction;
  if (interaction.kind === 'permission') {
    const { toolName: tool_name, toolInput: tool_input, asked } = interaction;
    const rules = asked === undefined ? {} : { rules: askedRules(asked) };
    const time = limitsTime(asked ?? []) ? { expires_at: isoTime(interaction.expiresAt) } : {};
    const data = { request_id, interaction_key, tool_name, tool_input, ...rules, ...time };
    return { type: 'permission_request', data };
  }
  const { question, options, multiple, about } = interaction;
  return {
    type: 'user_question',
    data: {
      request_id,
      interaction_key,
      question,
      ...(options === null ? {} : { options }),
      ...(multiple ? { multiple: true } : {}),
      ...(about === null ? {} : { about: aboutFields(about) }),
    },
  };
}

/** The event that announces the decision or the answer. */
export function answeredEvent({ key, answer, decidedBy }: SettledInteraction): {
  type: string;
  data: JsonObject;
} {
  if (answer.kind === 'permission') {
    return {
      type: 'permission_resolved',
      data: {
        interaction_key: key,
        decision: answer.decision,
        ...(answer.message === undefined ? {} : { message: answer.message }),
        ...(answer.updatedInput === undefined ? {} : { updated_input: answer.updatedInput }),
        ...(decidedBy === undefined ? {} : { by: decidedBy }),
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

function isSameAnswer(known: InteractionAnswer, given: InteractionAnswer): boolean {
  return canonicalJson(plain(known)) === canonicalJson(plain(given));
}

/** The answer as JSON. One choice is the same answer as text and as a list of one. */
function plain(answer: InteractionAnswer): JsonObject {
  if (answer.kind !== 'question' || !('answer' in answer)) return { ...answer };
  const choices = typeof answer.answer === 'string' ? [answer.answer] : answer.answer;
  return { kind: answer.kind, answer: choices };
}
