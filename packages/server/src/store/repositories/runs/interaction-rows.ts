import type { InteractionKind, InteractionStatus, MemoryWidth } from '@convoke/contract';
import {
  type AnsweredInteraction,
  type ClosedInteraction,
  type DecidedBy,
  type ExpiredDenial,
  type Interaction,
  type InteractionAnswer,
  type InteractionRequest,
  type PendingInteraction,
  type PermissionRequest,
  type QuestionAbout,
  type SettledInteraction,
  type UserQuestion,
  approvedInput,
} from '../../../domain/interaction.ts';
import type { Json } from '../../../domain/json.ts';
import type { Memory } from '../../../domain/rules/memory.ts';
import { flag, jsonText, made, nounTable, number, text } from '../../columns.ts';
import { fromJsonText } from '../../json-text.ts';

/** An interaction as its row holds it: those of one kind or state leave the fields of the others null. */
interface StoredInteraction
  extends Pick<
    Interaction,
    'key' | 'organizationId' | 'tenantId' | 'sessionId' | 'runId' | 'requestId' | 'createdAt'
  > {
  readonly kind: InteractionKind;
  readonly status: InteractionStatus;
  readonly toolName: string | null;
  readonly toolInput: Json;
  readonly question: string | null;
  readonly options: UserQuestion['options'];
  readonly multiple: boolean;
  readonly about: QuestionAbout | null;
  readonly answer: InteractionAnswer | null;
  readonly answeredBy: string | null;
  readonly answeredAt: number | null;
  readonly appliedAt: number | null;
  readonly expiresAt: number | null;
  readonly asked: PermissionRequest['asked'] | null;
  readonly approvals: PermissionRequest['approvals'] | null;
  readonly remembered: MemoryWidth | null;
  readonly decidedBy: DecidedBy | null;
  readonly spentOn: string | null;
}

export interface InteractionRow {
  readonly interaction_key: string;
}

/** The columns of an interaction: a new field of an interaction is one line here. */
export const interactionTable = nounTable<StoredInteraction, InteractionRow>('interactions', {
  // biome-ignore format: a table
  fields: {
    key: text('interaction_key', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    tenantId: text('tenant_id', 'fixed'),
    sessionId: text('session_id', 'fixed'),
    runId: text('run_id', 'fixed'),
    kind: text('kind', 'fixed'),
    status: text('status'),
    requestId: text('request_id', 'fixed'),
    toolName: text('tool_name', 'fixed'),
    toolInput: made({ tool_input: { kind: 'text', write: toolInputText, written: 'fixed' } },
      (row: { tool_input: string | null }) => fromJsonText<Json>(row.tool_input)),
    question: jsonText('question', 'fixed'),
    options: jsonText('options', 'fixed'),
    multiple: flag('multiple', 'fixed'),
    about: jsonText('about', 'fixed'),
    answer: jsonText('answer'),
    answeredBy: text('answered_by'),
    createdAt: number('created_at', 'fixed'),
    answeredAt: number('answered_at'),
    appliedAt: number('applied_at'),
    expiresAt: number('expires_at', 'fixed'),
    asked: jsonText('asked'),
    approvals: jsonText('approvals'),
    remembered: text('remembered'),
    decidedBy: text('decided_by'),
    spentOn: text('spent_on', 'changed'),
  },
});

/** Columns that a new row leaves out. */
export const unset = {
  toolName: null,
  toolInput: null,
  question: null,
  options: null,
  multiple: false,
  about: null,
  answer: null,
  answeredBy: null,
  answeredAt: null,
  appliedAt: null,
  asked: null,
  approvals: null,
  remembered: null,
  decidedBy: null,
  spentOn: null,
};

/** The input of a tool may be the JSON value null, which is not the null of a question. */
function toolInputText({ kind, toolInput }: StoredInteraction): string | null {
  return kind === 'permission' ? JSON.stringify(toolInput) : null;
}

export function interactionOf(row: InteractionRow): Interaction {
  const stored = interactionTable.read(row);
  switch (stored.status) {
    case 'pending':
      return pendingOf(stored);
    case 'answered':
      return answeredOf(stored);
    case 'expired':
      return stored.decidedBy === 'expiry' ? expiredOf(stored) : closedOf(stored, stored.status);
    case 'cancelled':
      return closedOf(stored, stored.status);
    default:
      return stored.status satisfies never;
  }
}

export function pendingOf(stored: StoredInteraction): PendingInteraction {
  return { ...identityOf(stored), ...requestOf(stored), status: 'pending' };
}

function closedOf(
  stored: StoredInteraction,
  status: ClosedInteraction['status'],
): ClosedInteraction {
  return { ...identityOf(stored), ...requestOf(stored), status };
}

export function settledOf(stored: StoredInteraction): SettledInteraction {
  return stored.status === 'expired' ? expiredOf(stored) : answeredOf(stored);
}

export function memoryIn(stored: StoredInteraction): readonly Memory[] {
  const { key, remembered: width } = stored;
  const interaction = answeredOf(stored);
  if (interaction.kind !== 'permission' || width === null) return [];
  const { toolName, asked = [], answeredBy } = interaction;
  return [{ key, toolName, width, input: approvedInput(interaction), asked, answeredBy }];
}

function expiredOf(stored: StoredInteraction): ExpiredDenial {
  const { answer, answeredAt, appliedAt } = stored;
  const request = requestOf(stored);
  if (request.kind !== 'permission' || answer?.kind !== 'permission') return broken(stored);
  return {
    ...identityOf(stored),
    ...request,
    status: 'expired',
    answer,
    answeredBy: null,
    decidedBy: 'expiry',
    answeredAt: answeredAt ?? broken(stored),
    appliedAt,
  };
}

function answeredOf(stored: StoredInteraction): AnsweredInteraction {
  const identity = identityOf(stored);
  const request = requestOf(stored);
  const answer = stored.answer ?? broken(stored);
  const answered = {
    status: 'answered',
    answeredBy: stored.answeredBy,
    ...(stored.decidedBy !== null && { decidedBy: stored.decidedBy }),
    answeredAt: stored.answeredAt ?? broken(stored),
    appliedAt: stored.appliedAt,
  } as const;
  if (request.kind === 'permission' && answer.kind === 'permission') {
    const { spentOn, remembered } = stored;
    return {
      ...identity,
      ...request,
      ...answered,
      answer,
      ...(spentOn !== null && { spentOn }),
      ...(remembered !== null && { remembered }),
    };
  }
  if (request.kind === 'question' && answer.kind === 'question') {
    return { ...identity, ...request, ...answered, answer };
  }
  return broken(stored);
}

function identityOf(stored: StoredInteraction) {
  const { key, organizationId, tenantId, sessionId, runId, requestId, createdAt } = stored;
  const expiresAt = stored.expiresAt ?? broken(stored);
  return { key, organizationId, tenantId, sessionId, runId, requestId, createdAt, expiresAt };
}

function requestOf(stored: StoredInteraction): InteractionRequest {
  const { kind, toolInput, asked, approvals, options, multiple, about } = stored;
  if (kind === 'permission') {
    const toolName = stored.toolName ?? broken(stored);
    return { kind, toolName, toolInput, ...(asked && { asked }), ...(approvals && { approvals }) };
  }
  return { kind, question: stored.question ?? broken(stored), options, multiple, about };
}

function broken({ key, status, kind }: StoredInteraction): never {
  throw new Error(`the row of interaction ${key} fits no ${status} ${kind}`);
}
