import {
  type Approvals,
  type Interaction,
  type PendingPermission,
  type QuestionAbout,
  type SettledInteraction,
  rememberedOf,
} from '../interaction.ts';
import { isoTime } from '../iso-time.ts';
import type { JsonObject } from '../json.ts';
import { approversFields } from '../rules/approvers.ts';
import { type MatchedRule, demandsOf } from '../rules/decide.ts';
import { limitsTime } from '../rules/demands.ts';

/** The rules that asked, as people see them. */
export function askedRules(asked: readonly MatchedRule[]) {
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
    const approvers = approversFields(demandsOf(asked ?? []));
    const { remember } = demandsOf(asked ?? []);
    const who = {
      ...(approvers !== undefined && { approvers }),
      ...(remember !== 'never' && { can_remember: remember }),
    };
    const data = { request_id, interaction_key, tool_name, tool_input, ...rules, ...who, ...time };
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

/** The event of one of several people who allows a call. */
export function approvedEvent({ key }: PendingPermission, { given, needed }: Approvals) {
  const data = { interaction_key: key, approvals: given.length, needed };
  return { type: 'permission_approved', data } as const;
}

/** The event that announces the decision or the answer. */
export function answeredEvent(interaction: SettledInteraction): {
  type: string;
  data: JsonObject;
} {
  const { key, answer, decidedBy } = interaction;
  if (answer.kind === 'permission') {
    const remembered = rememberedOf(interaction);
    return {
      type: 'permission_resolved',
      data: {
        interaction_key: key,
        decision: answer.decision,
        ...(answer.message === undefined ? {} : { message: answer.message }),
        ...(answer.updatedInput === undefined ? {} : { updated_input: answer.updatedInput }),
        ...(decidedBy === undefined ? {} : { by: decidedBy }),
        ...(remembered === undefined ? {} : { remembered }),
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

/** The wire form, for the record and for the event. */
export function aboutFields(about: QuestionAbout) {
  const { kind } = about;
  if (kind === 'connection_missing') {
    const { service, url } = about;
    return { kind, service, owner: 'end_user' as const, url };
  }
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
