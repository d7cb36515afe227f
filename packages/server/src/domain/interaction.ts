import type {
  InteractionKey,
  InteractionStatus,
  MemoryWidth,
  RunId,
  SessionId,
} from '@convoke/contract';
import { type Json, type JsonObject, canonicalJson } from './json.ts';
import { type Ruling, accepted, refused } from './refusal.ts';
import type { Approval } from './rules/approvers.ts';
import type { AskingRule } from './rules/decide.ts';
import { deniesOnExpiry } from './rules/demands.ts';
import type { InterruptionReason } from './run/run-parts.ts';
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

/** Its run continues with the decision. */
export type SettledInteraction = AnsweredInteraction | ExpiredDenial;

export type PendingInteraction = Identity & InteractionRequest & { readonly status: 'pending' };

export type ClosedInteraction = Identity &
  InteractionRequest & { readonly status: 'expired' | 'cancelled' };

export type AnsweredInteraction = AnsweredPermission | AnsweredQuestion;
export type AnsweredPermission = Identity &
  PermissionRequest &
  AnsweredWith<PermissionAnswer> & {
    /** The ref of the call that has used the allow (D-519). */
    readonly spentOn?: string;
    /** What else it allows in its session, until it is forgotten (D-521). */
    readonly remembered?: MemoryWidth;
  };
export type AnsweredQuestion = Identity & UserQuestion & AnsweredWith<QuestionAnswer>;

/** No answer came in time, and the rules that asked say that this denies the call (D-522). */
export type ExpiredDenial = Identity &
  PermissionRequest &
  Omit<AnsweredWith<PermissionAnswer>, 'status'> & {
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
  /** Who has allowed it, where more than one person has to (D-516). */
  readonly approvals?: readonly Approval[];
}

export type PendingPermission = Extract<PendingInteraction, { readonly kind: 'permission' }>;

export interface UserQuestion {
  readonly kind: 'question';
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description?: string }[] | null;
  /** Whether the person may choose several options. */
  readonly multiple: boolean;
  /** Set when the service asks, not the agent. */
  readonly about: QuestionAbout | null;
}

export type QuestionAbout = CallInDoubt | WorkspaceBehind | ConnectionMissing;

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

/**
 * D-607: the question about an account of the end user that a leg needs and that is not there. The leg is not executed:
 * what it was to start with is kept in the question, for the leg behind its answer.
 */
export interface ConnectionMissing {
  readonly kind: 'connection_missing';
  readonly service: string;
  /** Where the end user connects it. */
  readonly url: string;
  readonly leg: UnexecutedLeg;
}

/** The input of the leg that asked. */
export type UnexecutedLeg =
  | { readonly kind: 'prompt' }
  /** The answers that were marked applied for it, by their refs. */
  | { readonly kind: 'resume'; readonly refs: readonly string[] }
  | { readonly kind: 'continue'; readonly reason: InterruptionReason | 'answered' };

interface AnsweredWith<Answer> {
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
  readonly remember?: MemoryWidth;
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

type DecidedRequest = Omit<NewInteraction, 'request' | 'waitMs'> & {
  readonly request: PermissionRequest;
};

/** D-510: a request that a rule has answered before it reached a person. */
export function deniedByRule(
  { reason, ...decided }: DecidedRequest & { readonly reason: string },
  now: number,
): AnsweredPermission {
  const answer = { kind: 'permission', decision: 'deny', message: reason } as const;
  return decidedRequest(decided, { answer, decidedBy: 'rule', now });
}

/** D-521: a request that an earlier allow of the session has answered before it reached a person. */
export function allowedByMemory(decided: DecidedRequest, now: number): AnsweredPermission {
  const answer = { kind: 'permission', decision: 'allow' } as const;
  return decidedRequest(decided, { answer, decidedBy: 'memory', now });
}

interface Outcome extends Pick<AnsweredPermission, 'answer' | 'decidedBy'> {
  readonly now: number;
}

function decidedRequest(
  { request, ...identity }: DecidedRequest,
  { now, ...outcome }: Outcome,
): AnsweredPermission {
  return {
    ...identity,
    ...request,
    ...outcome,
    status: 'answered',
    answeredBy: null,
    createdAt: now,
    expiresAt: now,
    answeredAt: now,
    appliedAt: null,
  };
}

export type AnswerRuling =
  | { readonly outcome: 'answered'; readonly interaction: AnsweredInteraction }
  /** One of the people who have to allow it has: it stays pending (D-516). */
  | { readonly outcome: 'approved'; readonly interaction: PendingPermission }
  /** The same was recorded before. */
  | { readonly outcome: 'repeated'; readonly interaction: AnsweredInteraction | PendingPermission };

/** Who answers, and when. */
interface Answerer {
  readonly actor: string;
  readonly now: number;
  /** Of an allow that more than one person has to give: those that count by now, with this one. */
  readonly approvals?: Approvals | undefined;
  /** Of an allow that is to be remembered: the rules that it satisfies, for its input (D-823). */
  readonly satisfied?: readonly AskingRule[] | undefined;
}

export interface Approvals {
  readonly given: readonly Approval[];
  readonly needed: number;
}

/** D-38: the first answer wins. The same one again changes nothing; any other is refused. */
export function answerInteraction(
  interaction: Interaction,
  answer: InteractionAnswer,
  by: Answerer,
): Ruling<AnswerRuling> {
  switch (interaction.status) {
    case 'pending': {
      if (hasExpired(interaction, by.now)) return refused('interaction_not_pending');
      const { approvals } = by;
      if (interaction.kind === 'permission' && approvals !== undefined) {
        const { given, needed } = approvals;
        const approved = { ...interaction, approvals: given };
        if (given.length < needed) return accepted(approvalOf(interaction, approved));
        return withAnswer(approved, answer, by);
      }
      return withAnswer(interaction, answer, by);
    }
    case 'answered':
      return isSameAnswer(interaction.answer, answer) || isApproval(interaction, answer, by)
        ? accepted({ outcome: 'repeated', interaction })
        : refused('interaction_answered');
    case 'expired':
    case 'cancelled':
      return refused('interaction_not_pending');
    default:
      return interaction satisfies never;
  }
}

/** D-517: again by one of those who have allowed it, with any words: only those of the last one are kept. */
function isApproval(
  interaction: AnsweredInteraction,
  given: InteractionAnswer,
  { actor }: Answerer,
): boolean {
  if (interaction.kind !== 'permission' || given.kind !== 'permission') return false;
  const isAllow = interaction.answer.decision === 'allow' && given.decision === 'allow';
  const isPlain = given.updatedInput === undefined && given.remember === undefined;
  return isAllow && isPlain && approvalsOf(interaction).some(({ by }) => by === actor);
}

/** D-517: one person counts once, in any number of tabs. */
function approvalOf(seen: PendingPermission, approved: PendingPermission): AnswerRuling {
  const people = ({ approvals = [] }: PendingPermission) => approvals.map(({ by }) => by).join(' ');
  const outcome = people(seen) === people(approved) ? 'repeated' : 'approved';
  return { outcome, interaction: approved };
}

function withAnswer(
  interaction: PendingInteraction,
  answer: InteractionAnswer,
  by: Answerer,
): Ruling<AnswerRuling> {
  const answered = {
    status: 'answered',
    answeredBy: by.actor,
    answeredAt: by.now,
    appliedAt: null,
  } as const;
  if (interaction.kind === 'permission' && answer.kind === 'permission') {
    const { remember } = answer;
    const { satisfied } = by;
    const kept = remember !== undefined && satisfied !== undefined;
    const memory = kept ? { remembered: remember, asked: satisfied } : {};
    const settled = { ...interaction, ...answered, answer, ...memory };
    return accepted({ outcome: 'answered', interaction: settled });
  }
  if (interaction.kind === 'question' && answer.kind === 'question') {
    return accepted({ outcome: 'answered', interaction: { ...interaction, ...answered, answer } });
  }
  return refused('invalid_answer');
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

/** Who has allowed it, where more than one person has to (D-516). */
export function approvalsOf(interaction: Interaction): readonly Approval[] {
  return interaction.kind === 'permission' ? (interaction.approvals ?? []) : [];
}

/** The calls that the allow covers for the rest of the session. */
export function rememberedOf(interaction: Interaction): MemoryWidth | undefined {
  return 'remembered' in interaction ? interaction.remembered : undefined;
}

/** Ids of those whom a record of it names. */
export function actorsOf(interaction: Interaction): readonly (string | undefined)[] {
  return [answererOf(interaction), ...approvalsOf(interaction).map(({ by }) => by)];
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
