import { idPrefixes, interactionKey } from '@convoke/contract';
import type { Services } from '../app/services.ts';
import type { Interaction } from '../domain/interaction.ts';
import type { RunEventDraft } from '../domain/run-event.ts';
import type { Run } from '../domain/run.ts';
import type { HarnessEvent } from '../ports/harness.ts';
import type { StoreTransaction } from '../ports/store.ts';

export type InteractionRequest = Extract<
  HarnessEvent,
  { type: 'permission_request' | 'user_question' }
>;

/** What a leg has to tell, in order. */
export type LegItem = RunEventDraft | InteractionRequest;

export interface Raised {
  readonly events: readonly RunEventDraft[];
  /** How many interactions of the run are open now. */
  readonly open: number;
}

/** The same `ref` again is the same interaction, told once more as `replayed` (spec §6.6). */
export async function raiseInteractions(
  services: Pick<Services, 'ids' | 'clock'>,
  tx: StoreTransaction,
  { run, items, waitMs }: { run: Run; items: readonly LegItem[]; waitMs: number },
): Promise<Raised> {
  const events: RunEventDraft[] = [];
  for (const item of items) {
    if (isDraft(item)) {
      events.push(item);
      continue;
    }
    const known = await tx.interactions.findByRequest(run.id, item.ref);
    const interaction = known ?? newInteraction(services, { run, item, waitMs });
    if (known === undefined) await tx.interactions.insert(interaction);
    events.push(requestEvent(interaction, known !== undefined));
  }
  return { events, open: await tx.interactions.countPending(run.id) };
}

function newInteraction(
  { ids, clock }: Pick<Services, 'ids' | 'clock'>,
  { run, item, waitMs }: { run: Run; item: InteractionRequest; waitMs: number },
): Interaction {
  const now = clock.now();
  const base = {
    key: interactionKey(ids.next(idPrefixes.interaction)),
    organizationId: run.organizationId,
    tenantId: run.tenantId,
    sessionId: run.sessionId,
    runId: run.id,
    status: 'pending',
    requestId: item.ref,
    answer: null,
    answeredBy: null,
    createdAt: now,
    answeredAt: null,
    appliedAt: null,
    expiresAt: now + waitMs,
  } as const;
  if (item.type === 'permission_request') {
    const { toolName, toolInput } = item;
    return {
      ...base,
      kind: 'permission',
      toolName,
      toolInput,
      question: null,
      options: null,
      multiple: false,
    };
  }
  const { question, options = null, multiple = false } = item;
  return {
    ...base,
    kind: 'question',
    toolName: null,
    toolInput: null,
    question,
    options,
    multiple,
  };
}

function requestEvent(interaction: Interaction, replayed: boolean): RunEventDraft {
  const { key, requestId, toolName, toolInput, question, options, multiple } = interaction;
  const common = {
    request_id: requestId,
    interaction_key: key,
    ...(replayed ? { replayed: true } : {}),
  };
  if (interaction.kind === 'permission') {
    return {
      type: 'permission_request',
      data: { ...common, tool_name: toolName, tool_input: toolInput },
    };
  }
  return {
    type: 'user_question',
    data: {
      ...common,
      question,
      ...(options === null ? {} : { options }),
      ...(multiple ? { multiple: true } : {}),
    },
  };
}

export function isDraft(item: LegItem): item is RunEventDraft {
  return 'data' in item;
}
