import type { InteractionRecord } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { ShownAllowing } from '../../app/rules/shown-allowing.ts';
import type {
  Interaction,
  InteractionAnswer,
  InteractionRequest,
} from '../../domain/interaction.ts';
import { aboutFields, askedRules } from '../../domain/run/interaction-event.ts';
import { answererOf, approvalsOf, isSettled, rememberedOf } from '../../domain/interaction.ts';
import { type Approval, approversFields } from '../../domain/rules/approvers.ts';
import { deniesOnExpiry } from '../../domain/rules/demands.ts';
import { isObject } from '../../domain/json.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { timeIn } from './fields.ts';

/** An interaction as the API shows it (D-36). */
export function interactionView(
  interaction: Interaction,
  names: Names,
  allowing: ShownAllowing | undefined,
): InteractionRecord {
  const answered = isSettled(interaction) ? interaction : undefined;
  return {
    interaction_key: interaction.key,
    kind: interaction.kind,
    status: interaction.status,
    session_id: interaction.sessionId,
    run_id: interaction.runId,
    request_id: interaction.requestId,
    ...requestFields(interaction),
    ...allowingFields(allowing),
    can_remember: memoryField(allowing),
    approvals: approvalsView(approvalsOf(interaction), names),
    ...(answered && answerFields(answered.answer)),
    answered_by: answererOf(interaction),
    answered_by_name: names.get(answererOf(interaction) ?? ''),
    decided_by: answered?.decidedBy,
    remembered: rememberedOf(interaction),
    created_at: isoTime(interaction.createdAt),
    answered_at: timeIn(answered?.answeredAt),
    applied_at: timeIn(answered?.appliedAt),
    expires_at: isoTime(interaction.expiresAt),
  };
}

/** Who may allow it, as far as it is pending. */
export function allowingFields(allowing: ShownAllowing | undefined) {
  if (allowing === undefined) return {};
  const { rules, demands, canAllow } = allowing;
  return {
    rules: rules.length === 0 ? undefined : askedRules(rules),
    approvers: approversFields(demands),
    can_allow: canAllow,
  };
}

function memoryField(allowing: ShownAllowing | undefined) {
  const { remember = 'never' } = allowing?.demands ?? {};
  return remember === 'never' ? undefined : remember;
}

export function approvalsView(approvals: readonly Approval[], names: Names) {
  if (approvals.length === 0) return undefined;
  return approvals.map(({ by, at }) => ({ by, by_name: names.get(by), at: isoTime(at) }));
}

function requestFields(request: InteractionRequest): Partial<InteractionRecord> {
  if (request.kind === 'permission') {
    const { toolName, toolInput, asked } = request;
    return {
      tool_name: toolName,
      tool_input: toolInput,
      rules: asked && askedRules(asked),
      on_expiry: deniesOnExpiry(asked ?? []) ? 'deny' : undefined,
    };
  }
  const { question, options, multiple, about } = request;
  return {
    question,
    options: options === null ? undefined : [...options],
    multiple: multiple || undefined,
    about: about === null ? undefined : aboutFields(about),
  };
}

function answerFields(answer: InteractionAnswer): Partial<InteractionRecord> {
  if (answer.kind === 'permission') {
    const { decision, message, updatedInput } = answer;
    const updated = isObject(updatedInput) ? updatedInput : undefined;
    return { decision, message: message ?? undefined, updated_input: updated };
  }
  if ('declined' in answer) return { declined: true, message: answer.message ?? undefined };
  return { answer: typeof answer.answer === 'string' ? answer.answer : [...answer.answer] };
}
