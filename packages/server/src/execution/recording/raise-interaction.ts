import { idPrefixes, interactionKey } from '@convoke/contract';
import type { DecidedCall } from '../../app/rules/decided-calls.ts';
import type { Services } from '../../app/services.ts';
import { requestEvent } from '../../domain/run/interaction-event.ts';
import {
  type AnsweredPermission,
  type Interaction,
  type InteractionRequest,
  type PendingInteraction,
  type QuestionAbout,
  allowedByMemory,
  deniedByRule,
  openInteraction,
} from '../../domain/interaction.ts';
import { waitOf } from '../../domain/rules/demands.ts';
import { type Memory, memoryFor } from '../../domain/rules/memory.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import type { Run } from '../../domain/run/run.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import {
  type Deciding,
  decisionAbout,
  decisionEvents,
  memoriesOf,
  memoryEvents,
  observationEvents,
  shownId,
} from './decide-calls.ts';

export type InteractionEvent =
  | Extract<HarnessEvent, { type: 'permission_request' }>
  /** `about` is set by the service: an agent cannot ask in its name. */
  | (Extract<HarnessEvent, { type: 'user_question' }> & { readonly about?: QuestionAbout });

interface RaisedInteraction {
  readonly interaction: Interaction;
  readonly events: readonly RunEventDraft[];
  /** For the audit log and the metrics. */
  readonly decided?: DecidedCall;
}

/** Stores a new request as an interaction. A known `ref` is the same one, emitted again as `replayed` (spec §6.6). */
export async function raiseInteraction(
  services: Pick<Services, 'ids' | 'clock' | 'fanout'>,
  tx: StoreTransaction,
  raising: RaisingOne,
): Promise<RaisedInteraction> {
  const { run, item } = raising;
  const known = await tx.interactions.findByRequest(run.id, item.ref);
  if (known !== undefined) {
    return { interaction: known, events: [raisedEvent(known, item, true)] };
  }
  const memories = await memoriesFor(tx, raising);
  const raised = newInteraction(services, { ...raising, memories });
  await tx.interactions.insert(raised.interaction);
  // The process that raised it is told, as after any answer (D-511).
  const isOver = raised.interaction.status === 'answered';
  if (isOver) tx.onCommit(() => services.fanout.wake(`control:${run.id}`));
  return raised;
}

export interface Raising {
  readonly run: Run;
  readonly waitMs: number;
  /** Absent where the service itself asks: no rule is about its questions (D-509). */
  readonly deciding?: Deciding;
}

interface NewlyRaised {
  readonly interaction: PendingInteraction | AnsweredPermission;
  readonly events: readonly RunEventDraft[];
  readonly decided?: DecidedCall;
}

interface RaisingOne extends Raising {
  readonly item: InteractionEvent;
}

/** What the session remembers of the tool; nothing is read where nothing is to be decided. */
async function memoriesFor(
  { interactions }: StoreTransaction,
  { deciding, item }: RaisingOne,
): Promise<readonly Memory[]> {
  if (deciding === undefined || item.type !== 'permission_request') return [];
  return interactions.memories(memoriesOf(deciding.holder, [item.toolName]));
}

/** D-511: a rule, or an earlier allow, may answer a request about a tool before a person sees it. */
function newInteraction(
  { ids, clock }: Pick<Services, 'ids' | 'clock'>,
  { run, item, waitMs, deciding, memories }: RaisingOne & { readonly memories: readonly Memory[] },
): NewlyRaised {
  const { organizationId, tenantId, sessionId, id: runId } = run;
  const key = interactionKey(ids.next(idPrefixes.interaction));
  const identity = { key, organizationId, tenantId, sessionId, runId, requestId: item.ref };
  const now = clock.now();
  const request = requestOf(item);
  const decision =
    deciding !== undefined && item.type === 'permission_request'
      ? decisionAbout(deciding, { toolName: item.toolName, input: item.toolInput })
      : undefined;
  if (
    decision === undefined ||
    item.type !== 'permission_request' ||
    request.kind !== 'permission'
  ) {
    const interaction = openInteraction({ ...identity, request, waitMs }, now);
    return { interaction, events: [raisedEvent(interaction, item, false)] };
  }
  const observed = observationEvents(item, decision);
  const { effect, rules } = decision;
  const { toolName, toolInput: input } = request;
  const version = deciding?.organization.version ?? 0;
  const decided = { effect, by: 'rule', toolName, input, rules, version, key } as const;
  if (effect === 'deny') {
    const { reason } = decision;
    const interaction = deniedByRule({ ...identity, request, reason }, now);
    const events = [...observed, ...decisionEvents(item, decision, key)];
    return { interaction, events, decided };
  }
  const memory =
    decision.effect === 'ask'
      ? memoryFor(
          { toolName, input, demands: decision.demands, startedBy: run.createdBy },
          memories,
        )
      : undefined;
  if (memory !== undefined) {
    const interaction = allowedByMemory({ ...identity, request }, now);
    const events = [...observed, ...memoryEvents(item, rules, memory)];
    const recalled = { ...decided, effect: 'allow', by: 'memory', key: memory.key } as const;
    return { interaction, events, decided: recalled };
  }
  const open =
    decision.effect === 'ask'
      ? {
          request: { ...request, asked: decision.rules },
          waitMs: waitOf(decision.demands, waitMs),
        }
      : { request, waitMs };
  const interaction = openInteraction({ ...identity, ...open }, now);
  const events = [...observed, raisedEvent(interaction, item, false)];
  return { interaction, events, ...(effect === 'ask' && { decided }) };
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
  const more = {
    ...(replayed ? { replayed: true } : {}),
    ...shownId(id),
  };
  return { type, data: { ...data, ...more } };
}
