import { type ClientId, type RunId, idPrefixes, runId } from '@convoke/contract';
import { type Agent, isEnabledFor } from '../../domain/agent.ts';
import { timeOfId } from '../../domain/id-time.ts';
import type { JsonObject } from '../../domain/json.ts';
import { inheritLabels, readLabels } from '../../domain/labels.ts';
import { type Run, type RunningRun, isReady, openRun } from '../../domain/run/run.ts';
import {
  type Session,
  acceptRun,
  acceptsFiles,
  changeTime,
  isFree,
  titled,
} from '../../domain/session.ts';
import { type RunInput, previewOfInput, readRunInput } from '../../domain/run/run-input.ts';
import { type Ceiling, noCeiling, stricter } from '../../domain/usage/budget.ts';
import { isRefused } from '../../domain/usage/prices.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { type RunMove, recordNew } from '../record.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { requireAccounts } from '../connections/required-accounts.ts';
import { refuseUnpriced } from '../usage/unpriced-models.ts';
import { beginRun } from './begin-run.ts';
import type { InlineSlot } from './inline-slot.ts';

/** The run that a caller asks for. */
export interface RequestedRun {
  readonly input: JsonObject;
  /** The client whose usage the run is; null for none. */
  readonly clientId: ClientId | null;
  /** The client or the person that starts it; the client when absent. */
  readonly createdBy?: string | undefined;
  /** Who made the schedule that starts it. */
  readonly scheduledBy?: string | undefined;
  /** The id of the message that starts it, in the protocol of its client. */
  readonly messageId?: string | undefined;
  /** Labels of the run, as the request has them. */
  readonly labels?: JsonObject | undefined;
  /** Lowers the ceiling of the agent. */
  readonly ceiling?: Ceiling | undefined;
  /** The path of the run that calls it (`domain/run/ancestry.ts`). */
  readonly ancestors?: string | undefined;
}

/**
 * D-01: an id that sorts after those of the session's earlier runs, which other servers may have made. The last change
 * of the session is never before the time in its newest run's id, so only an id that is not later requires reading that
 * run.
 */
export async function laterId(
  { ids }: Pick<Services, 'ids'>,
  tx: StoreTransaction,
  { id, session }: { readonly id: RunId; readonly session: Session },
): Promise<RunId> {
  if (timeOfId(id) > session.updatedAt) return id;
  return runId(ids.next(idPrefixes.run, await tx.runs.newestId(session.id)));
}

type InsertServices = Pick<
  Services,
  'clock' | 'agents' | 'fanout' | 'metrics' | 'settings' | 'prices'
>;

interface NewRun {
  readonly session: Session;
  readonly id: RunId;
  readonly request: RequestedRun;
  readonly slot: InlineSlot;
  readonly hasBudgets: boolean;
}

/**
 * Inserts the run into its session. Returns it as it is stored: `running` when its first leg starts with the commit.
 */
export async function insertRun(
  services: InsertServices,
  tx: StoreTransaction,
  { session, id, request, slot, hasBudgets }: NewRun,
): Promise<Run> {
  // Ids may be ahead of the clock, and no run is older than its id (`laterId`).
  const now = Math.max(changeTime(session, services.clock.now()), timeOfId(id));
  const { input, clientId } = request;
  const agent = enabledAgent(services, session);
  // D-52: faults of the request are reported before those of the session's state.
  const takesFiles = acceptsFiles(session, services.settings);
  const wanted = orRefuse(readRunInput(input, { agent, takesFiles }));
  const own = orRefuse(readLabels(request.labels ?? {}));
  const labels = orRefuse(inheritLabels(session.labels, own));
  const busy = { onBusy: agent.onBusy, queueMax: services.settings.sessionQueueMax };
  const preview = previewOfInput(input);
  const accepted = orRefuse(acceptRun(titled(session, preview), busy, now));
  const starter = request.createdBy ?? request.scheduledBy ?? clientId;
  const { settings } = services;
  await requireAccounts(tx, { agent, session, starter, settings, now });
  if (wanted.fileIds.length > 0) await requireReadyFiles(tx, session, wanted);
  const ceiling = stricter(agent.limits.ceiling ?? noCeiling, request.ceiling ?? noCeiling);
  const isUnpriced = isRefused(services.prices, agent);
  if (isUnpriced && ceiling.maxCostMicros !== null) refuseUnpriced(agent);
  const run = openRun(
    {
      id,
      organizationId: session.organizationId,
      tenantId: session.tenantId,
      sessionId: session.id,
      agentName: agent.name,
      clientId,
      createdBy: request.createdBy ?? clientId,
      preview,
      labels,
      ceiling,
      number: accepted.runCount,
      messageId: request.messageId ?? null,
      input: JSON.stringify(input),
      ancestors: request.ancestors ?? null,
    },
    { isHead: isFree(session), now },
  );
  tx.labels.insert(run, labels);
  const check = hasBudgets ? { isUnpriced } : undefined;
  const seen = { run, session: accepted };
  const reserved = isReady(run) ? slot.reserve(run) : undefined;
  if (reserved === undefined) {
    return recordNew(services, tx, { move: { ...seen, events: [] }, check });
  }
  const record = (move: RunMove<RunningRun>) => recordNew(services, tx, { move, check });
  return (await beginRun(tx, seen, { ...reserved, now, record, agent })).run;
}

function enabledAgent({ agents }: Pick<Services, 'agents'>, session: Session): Agent {
  const agent = agents.find(session.agentName);
  if (agent === undefined || !isEnabledFor(agent, session.tenantId))
    return refuse('agent_not_found');
  return agent;
}

async function requireReadyFiles(
  tx: StoreTransaction,
  session: Session,
  input: RunInput,
): Promise<void> {
  for (const id of new Set(input.fileIds)) {
    if (!(await tx.files.isReady(session.id, id))) {
      refuse('file_not_ready', {
        message: `input.files: ${id} is not a ready file of this session.`,
      });
    }
  }
}
