import type { InteractionRecord } from '@convoke/contract';
import type { Interaction, InteractionAnswer } from '../../domain/interaction.ts';
import { isObject } from '../../domain/json.ts';
import { optional, optionalTime, timestamp } from './fields.ts';

/** D-36. */
export function interactionView(interaction: Interaction): InteractionRecord {
  const { kind, toolName, toolInput, question, options, multiple } = interaction;
  return {
    interaction_key: interaction.key,
    kind,
    status: interaction.status,
    session_id: interaction.sessionId,
    run_id: interaction.runId,
    request_id: interaction.requestId,
    ...(kind === 'permission' ? { ...optional('tool_name', toolName), tool_input: toolInput } : {}),
    ...optional('question', question),
    ...(options === null ? {} : { options: [...options] }),
    ...(multiple ? { multiple } : {}),
    ...answerFields(interaction.answer),
    ...optional('answered_by', interaction.answeredBy),
    created_at: timestamp(interaction.createdAt),
    ...optionalTime('answered_at', interaction.answeredAt),
    ...optionalTime('applied_at', interaction.appliedAt),
    ...optionalTime('expires_at', interaction.expiresAt),
  };
}

function answerFields(answer: InteractionAnswer | null): Partial<InteractionRecord> {
  if (answer === null) return {};
  if (answer.kind === 'permission') {
    const { decision, message, updatedInput } = answer;
    const updated = isObject(updatedInput) ? updatedInput : undefined;
    return { decision, ...optional('message', message), ...optional('updated_input', updated) };
  }
  if ('declined' in answer) return { declined: true, ...optional('message', answer.message) };
  return { answer: typeof answer.answer === 'string' ? answer.answer : [...answer.answer] };
}
