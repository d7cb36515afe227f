import type { InteractionRecord, InteractionSummary, Json, JsonObject } from '@convoke/sdk';
import type { AskItem } from './transcript.ts';

/** What a person is asked, from whichever source it came: the list, the record, or the events of the run. */
export interface Ask {
  readonly key: string;
  readonly sessionId: string;
  readonly runId: string;
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
}

export interface AskOutcome {
  readonly decision?: 'allow' | 'deny' | undefined;
  readonly answer?: string | readonly string[] | undefined;
  readonly isDeclined: boolean;
  readonly message?: string | undefined;
  readonly updatedInput?: JsonObject | undefined;
  readonly by?: string | undefined;
  readonly at?: string | undefined;
}

/** What a person decides on: the input of the tool, as they or another person may have changed it. */
export function inputOf(ask: Ask): Json | undefined {
  if (ask.about !== undefined) return ask.about.tool_input;
  return ask.kind === 'permission' ? (ask.outcome?.updatedInput ?? ask.toolInput) : undefined;
}

export function askOfRecord(record: InteractionRecord): Ask {
  return {
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
    outcome:
      record.status === 'answered'
        ? {
            decision: record.decision,
            answer: record.answer,
            isDeclined: record.declined === true,
            message: record.message,
            updatedInput: record.updated_input,
            by: record.answered_by,
            at: record.answered_at,
          }
        : undefined,
  };
}

export function askOfItem(
  item: AskItem,
  run: { readonly id: string; readonly session_id: string; readonly hasEnded: boolean },
): Ask {
  const { request, resolution } = item;
  const common = {
    key: item.key,
    sessionId: run.session_id,
    runId: run.id,
    status: resolution !== undefined ? 'answered' : run.hasEnded ? 'cancelled' : 'pending',
    createdAt: item.at,
    outcome: resolution === undefined ? undefined : outcomeOf(resolution),
  };
  if (request.kind === 'permission') {
    const { tool_name: toolName, tool_input: toolInput } = request;
    return { ...common, kind: 'permission', toolName, toolInput, isMultiple: false };
  }
  const { question, options = [], multiple, about } = request;
  return { ...common, kind: 'question', question, options, about, isMultiple: multiple === true };
}

function outcomeOf(resolution: NonNullable<AskItem['resolution']>): AskOutcome {
  if ('decision' in resolution) {
    const { decision, message, updated_input: updatedInput, at } = resolution;
    return { decision, message, updatedInput, isDeclined: false, at };
  }
  const { answer, declined, message, at } = resolution;
  return { answer, isDeclined: declined === true, message, at };
}

/** In the past tense: `allowed`, `denied`, `answered "blue"`. */
export function outcomeWords(outcome: AskOutcome): string {
  if (outcome.decision === 'allow') {
    return outcome.updatedInput === undefined ? 'allowed' : 'allowed with changes';
  }
  if (outcome.decision === 'deny') return 'denied';
  if (outcome.isDeclined) return 'declined to answer';
  const text = typeof outcome.answer === 'string' ? outcome.answer : outcome.answer?.join(', ');
  return `answered "${text ?? ''}"`;
}

export function summaryTitle({
  kind,
  tool_name: toolName,
  question,
  about,
}: InteractionSummary): string {
  return askTitle({ kind, toolName, question, about });
}

/** What is asked, in one line. */
export function askTitle(
  ask: Pick<Ask, 'kind' | 'toolName' | 'question'> & Pick<InteractionSummary, 'about'>,
): string {
  if (ask.about?.tool_name !== undefined) return `Did ${ask.about.tool_name} complete?`;
  return ask.kind === 'permission' ? (ask.toolName ?? 'tool') : (ask.question ?? 'Question');
}
