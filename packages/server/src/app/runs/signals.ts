import { type RunId, idPrefixes, limits } from '@convoke/contract';
import type { Json } from '../../domain/json.ts';
import { isEnded } from '../../domain/run/run.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { keptMessage } from '../../domain/run/wait.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { once } from '../once.ts';
import { recordWait } from '../record-wait.ts';
import { lockRun } from '../record.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';

export interface SendSignal {
  readonly runId: RunId;
  readonly name: string;
  readonly data: Json;
  readonly idempotencyKey: string | undefined;
  readonly chargeRate: () => void;
}

export interface SentSignal {
  readonly isReplayed: boolean;
  /** Whether the run waited for it. */
  readonly isReceived: boolean;
}

/**
 * D-856: a message goes to the oldest open request of its name, else it is kept for the next one. The lock of the run orders
 * it with other messages, with the end of the time for it, and with a cancel.
 */
export async function sendSignal(
  services: Pick<Services, 'store' | 'clock' | 'ids' | 'fanout' | 'metrics'>,
  scope: TenantScope,
  { runId, name, data, idempotencyKey: key, chargeRate }: SendSignal,
): Promise<SentSignal> {
  const { store, clock, ids } = services;
  return store.transaction(async (tx) => {
    const found = (await tx.runs.findById(scope, runId)) ?? refuse('not_found');
    const { sessionId } = found;
    const seen = (await lockRun(tx, { scope, sessionId, runId })) ?? refuse('not_found');
    const now = clock.now();
    const open = await tx.waits.openSignal(runId, name);
    const id = open?.id ?? ids.next(idPrefixes.wait);
    const place = `signal_run:${runId}`;
    const request = { scope, place, key, body: { name, data }, resourceId: id, now, chargeRate };
    const first = await once(tx, request);
    if (!first.fresh) {
      const kept = await tx.waits.find(first.resourceId);
      return { isReplayed: true, isReceived: kept?.ref !== null };
    }
    if (isEnded(seen.run) || seen.run.status === 'cancelling') return refuse('run_terminal');
    await refuseTooMany(tx, runId, data);
    if (open !== undefined) {
      await recordWait(services, tx, { seen, wait: open, result: { outcome: 'received', data } });
      return { isReplayed: false, isReceived: true };
    }
    const { organizationId, tenantId } = scope;
    const own = { id, organizationId, tenantId, sessionId, runId };
    await tx.waits.insert(keptMessage(own, { name, data }, now));
    return { isReplayed: false, isReceived: false };
  });
}

/** Each leg of the run gets all of them with its start message. */
async function refuseTooMany(tx: StoreTransaction, runId: RunId, data: Json): Promise<void> {
  const { kept, characters } = await tx.waits.messages(runId);
  const sum = characters + JSON.stringify(data).length;
  if (kept >= limits.signalsKeptPerRun || sum > limits.signalsMaxCharacters) {
    refuse('signal_limit_reached');
  }
}
