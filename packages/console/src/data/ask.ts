import type {
  InteractionInTenantRecord,
  InteractionRecord,
  InteractionSummary,
  Json,
  JsonObject,
  RunRecord,
} from '@convoke/sdk';
import type { AskItem } from './transcript.ts';

/** A request to a person, from the list, the record or the events of the run. */
export interface Ask {
  readonly key: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly agentName?: string | undefined;
  /** The run that called its run, and the agent of that one. */
  readonly caller?: { readonly runId: string; readonly agentName: string | undefined } | undefined;
  readonly kind: 'permission' | 'question';
  readonly status: string;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  readonly toolName?: string | undefined;
  readonly toolInput?: Json | undefined;
  readonly question?: string | undefined;
  readonly options?: readonly {
    readonly label: string;
    readonly description?: string | undefined;
  }[];
  readonly isMultiple: boolean;
  readonly about?: InteractionRecord['about'];
  readonly outcome?: AskOutcome | undefined;
  /** The rules that ask, with what their authors say about it. */
  readonly rules?: InteractionRecord['rules'];
  /** Who may allow it. Absent: everyone who may answer. */
  readonly approvers?: InteractionRecord['approvers'];
  readonly approvals?: InteractionRecord['approvals'];
  /** Absent where it is not known, as in the events of a run. */
  readonly canAllow?: boolean | undefined;
  /** How far the session may remember an allow. */
  readonly canRemember?: InteractionRecord['can_remember'];
}

export interface AskOutcome {
  readonly decision?: 'allow' | 'deny' | undefined;
  readonly answer?: string | readonly string[] | undefined;
  readonly isDeclined: boolean;
  readonly message?: string | undefined;
  readonly updatedInput?: JsonObject | undefined;
  /** What the session remembers of an allow. */
  readonly remembered?: InteractionRecord['remembered'];
  /** What decided, where no person did. */
  readonly decidedBy?: InteractionRecord['decided_by'];
  readonly by?: string | undefined;
  /** Their name, where the server knows it. */
  readonly byName?: string | undefined;
  readonly at?: string | undefined;
}

/** Whether this person may allow the call. Where only approvers may, it has to be known that they are one. */
export function mayAllow({ approvers, canAllow }: Ask): boolean {
  return approvers === undefined ? canAllow !== false : canAllow === true;
}

/** Whether they may change its input: what each of several people has seen is what runs (D-516). */
export function mayEdit(ask: Ask): boolean {
  return mayAllow(ask) && (ask.approvers?.people ?? 1) === 1;
}

/** The input that the agent asked for, on which a person decides. */
export function inputOf(ask: Ask): Json | undefined {
  if (ask.about !== undefined) return ask.about.tool_input;
  return ask.kind === 'permission' ? ask.toolInput : undefined;
}

export function askOfRecord(record: InteractionRecord & Partial<InteractionInTenantRecord>): Ask {
  const { parent_run_id: caller, parent_agent_name: callerName } = record;
  return {
    agentName: record.agent_name,
    caller: caller === undefined ? undefined : { runId: caller, agentName: callerName },
    key: record.interaction_key,
    sessionId: record.session_id,
    runId: record.run_id,
    kind: record.kind,
    status: record.status,
    createdAt: record.created_at,
    expiresAt: record.expires_at,
    toolName: record.tool_name,
    toolInput: record.tool_input,
    question: record.question,
    options: record.options ?? [],
    isMultiple: record.multiple === true,
    about: record.about,
    rules: record.rules,
    approvers: record.approvers,
    approvals: record.approvals,
    canAllow: record.can_allow,
    canRemember: record.can_remember,
    outcome:
      record.status === 'answered'
        ? {
            decision: record.decision,
            answer: record.answer,
            isDeclined: record.declined === true,
            message: record.message,
            updatedInput: record.updated_input,
            remembered: record.remembered,
            decidedBy: record.decided_by,
            by: record.answered_by,
            byName: record.answered_by_name,
            at: record.answered_at,
          }
        : undefined,
  };
}

export function askOfItem(
  item: AskItem,
  run: Pick<RunRecord, 'id' | 'session_id' | 'agent_name'> & { readonly hasEnded: boolean },
): Ask {
  const { request, resolution } = item;
  const common = {
    key: item.key,
    sessionId: run.session_id,
    runId: run.id,
    agentName: run.agent_name,
    status: resolution !== undefined ? 'answered' : run.hasEnded ? 'cancelled' : 'pending',
    createdAt: item.at,
    outcome: resolution === undefined ? undefined : outcomeOf(resolution),
  };
  if (request.kind === 'permission') {
    const { tool_name: toolName, tool_input: toolInput, rules, approvers } = request;
    const { can_remember: canRemember, expires_at: expiresAt } = request;
    const call = { toolName, toolInput, rules, approvers, canRemember, expiresAt };
    return { ...common, ...call, kind: 'permission', isMultiple: false };
  }
  const { question, options = [], multiple, about } = request;
  return { ...common, kind: 'question', question, options, about, isMultiple: multiple === true };
}

function outcomeOf(resolution: NonNullable<AskItem['resolution']>): AskOutcome {
  if ('decision' in resolution) {
    const { decision, message, updated_input: updatedInput, remembered, at } = resolution;
    const decidedBy = resolution.by;
    return { decision, message, updatedInput, remembered, decidedBy, isDeclined: false, at };
  }
  const { answer, declined, message, at } = resolution;
  return { answer, isDeclined: declined === true, message, at };
}

/** Members that the row of a request names, and characters of each (D-721). */
const rowMembers = 4;
const rowCharacters = 60;

/** Whether the line of a list says all of an input: a few short texts and numbers, nothing below them. */
export function isToldInRow(input: Json | undefined): boolean {
  if (input === undefined || input === null || typeof input !== 'object' || Array.isArray(input)) {
    return false;
  }
  const members: readonly unknown[] = Object.values(input);
  const isTold = (value: unknown) =>
    typeof value === 'number' ||
    (typeof value === 'string' &&
      value.trim() !== '' &&
      value.length <= rowCharacters &&
      !value.includes('\n'));
  return members.length <= rowMembers && members.every(isTold);
}

/** What an allow also allows until the session ends. */
export function rememberedText(
  width: NonNullable<AskOutcome['remembered']>,
  toolName = 'tool',
): string {
  return `${width === 'exact' ? 'this exact call' : `every ${toolName}`} in this session`;
}

const deciders = {
  rule: 'by a rule',
  memory: 'as remembered in this session',
  expiry: 'without an answer in time',
} as const;

/** Who or what decided, where it was no person. */
export function deciderText({ decidedBy }: AskOutcome): string | undefined {
  return decidedBy === undefined ? undefined : deciders[decidedBy];
}

/** How a request ended, as a glyph, a word and a colour: an outcome must not look like a question. */
export interface OutcomeText {
  readonly glyph: string;
  readonly words: string;
  readonly tone: 'done' | 'failed' | 'muted';
}

export function outcomeText(outcome: AskOutcome): OutcomeText {
  if (outcome.decision === 'allow') {
    const words = outcome.updatedInput === undefined ? 'Allowed' : 'Allowed with changes';
    return { glyph: '✓', words, tone: 'done' };
  }
  if (outcome.decision === 'deny') return { glyph: '✕', words: 'Denied', tone: 'failed' };
  if (outcome.isDeclined) return { glyph: '⊘', words: 'Declined to answer', tone: 'muted' };
  const text = typeof outcome.answer === 'string' ? outcome.answer : outcome.answer?.join(', ');
  const words = text === undefined ? 'Answered' : `Answered "${text}"`;
  return { glyph: '✓', words, tone: 'done' };
}

/** The same for a row of the inbox, which does not have the answer itself. */
export function summaryOutcome(row: InteractionSummary): OutcomeText | undefined {
  if (row.status === 'pending') return undefined;
  if (row.status === 'answered') {
    return outcomeText({ decision: row.decision, isDeclined: false });
  }
  const words = row.status === 'expired' ? 'Expired' : 'Run ended';
  return { glyph: '⊘', words, tone: 'muted' };
}

export function summaryTitle({
  kind,
  tool_name: toolName,
  question,
  about,
}: InteractionSummary): string {
  return askTitle({ kind, toolName, question, about });
}

/** The request in one line. */
export function askTitle(
  ask: Pick<Ask, 'kind' | 'toolName' | 'question'> & Pick<InteractionSummary, 'about'>,
): string {
  const { about } = ask;
  if (about?.kind === 'connection_missing') return `Connect ${about.service ?? 'an account'}`;
  if (ask.about?.tool_name !== undefined) return `Did ${ask.about.tool_name} complete?`;
  return ask.kind === 'permission' ? (ask.toolName ?? 'tool') : (ask.question ?? 'Question');
}
