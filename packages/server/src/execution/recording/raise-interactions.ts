import { idPrefixes, interactionKey } from '@convoke/contract';
import type { Services } from '../../app/services.ts';
import {
  type Interaction,
  type InteractionRequest,
  type PendingInteraction,
  type QuestionAbout,
  openInteraction,
  requestEvent,
} from '../../domain/interaction.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import type { Run } from '../../domain/run/run.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import type { StoreTransaction } from '../../ports/store.ts';

/** A provider may choose a longer id; then the request has none, and its call is known by its name (D-192). */
const callIdMaxCharacters = 500;

type InteractionEvent =
  | Extract<HarnessEvent, { type: 'permission_request' }>
  /** `about` is set by the service: an agent cannot ask in its name. */
  | (Extract<HarnessEvent, { type: 'user_question' }> & { readonly about?: QuestionAbout });

/** One item of a leg's output: an event, or a request to a person. */
export type LegItem = RunEventDraft | InteractionEvent;

export interface Raised {
  readonly events: readonly RunEventDraft[];
  /** How many interactions of the run are open now. */
  readonly open: number;
}

/** Stores new requests as interactions. A known `ref` is the same interaction, emitted again as `replayed` (spec §6.6). */
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
    if (known !== undefined) {
      events.push(raisedEvent(known, item, true));
      continue;
    }
    const interaction = newInteraction(services, { run, item, waitMs });
    await tx.interactions.insert(interaction);
    events.push(raisedEvent(interaction, item, false));
  }
  // The run's own count includes every interaction that was open before this batch.
  const mayBeOpen = run.pendingInteractions > 0 || !items.every(isDraft);
  return { events, open: mayBeOpen ? await tx.interactions.countPending(run.id) : 0 };
}

function newInteraction(
  { ids, clock }: Pick<Services, 'ids' | 'clock'>,
  { run, item, waitMs }: { run: Run; item: InteractionEvent; waitMs: number },
): PendingInteraction {
  return openInteraction(
    {
      key: interactionKey(ids.next(idPrefixes.interaction)),
      organizationId: run.organizationId,
      tenantId: run.tenantId,
      sessionId: run.sessionId,
      runId: run.id,
      requestId: item.ref,
      request: requestOf(item),
      waitMs,
    },
    clock.now(),
  );
}

function requestOf(item: InteractionEvent): InteractionRequest {
  if (item.type === 'permission_request') {
    return { kind: 'permission', toolName: item.toolName, toolInput: item.toolInput };
  }
  const { question, options = null, multiple = false, about = null } = item;
  return { kind: 'question', question, options, multiple, about };
}

/** The event of a request, with the id of the call that it is about where the framework names one. */
function raisedEvent(
  interaction: Interaction,
  item: InteractionEvent,
  replayed: boolean,
): RunEventDraft {
  const { type, data } = requestEvent(interaction);
  const id = item.type === 'permission_request' ? item.toolCallId : undefined;
  const isShown = id !== undefined && id.length <= callIdMaxCharacters;
  const more = {
    ...(replayed ? { replayed: true } : {}),
    ...(isShown ? { tool_call_id: id } : {}),
  };
  return { type, data: { ...data, ...more } };
}

export function isDraft(item: LegItem): item is RunEventDraft {
  return 'data' in item;
}
