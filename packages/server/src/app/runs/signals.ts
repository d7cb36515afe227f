import { type RunId, idPrefixes, limits } from '@convoke/contract';
import type { RequestActor } from '../../domain/audit.ts';
import { provenText } from '../../domain/run/callback.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { isEnded } from '../../domain/run/run.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { keptMessage } from '../../domain/run/wait.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordAudit } from '../audit.ts';
import { once } from '../once.ts';
import { recordWait } from '../record-wait.ts';
import { lockRun } from '../record.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';

interface Message {
  readonly runId: RunId;
  readonly name: string;
  readonly data: Json;
  readonly by: RequestActor;
}

export interface SendSignal extends Message {
  readonly idempotencyKey: string | undefined;
  readonly chargeRate: () => void;
}

export interface SentSignal {
  readonly isReplayed: boolean;
  /** Whether the run waited for it. */
  readonly isReceived: boolean;
}

type SignalServices = Pick<Services, 'store' | 'clock' | 'ids' | 'fanout' | 'metrics'>;
type CallbackServices = SignalServices & Pick<Services, 'callbacks'>;

/**
 * D-856: a message goes to the oldest open request of its name, else it is kept for the next one. The lock of the run
 * orders it with other messages, with the end of the time for it, and with a cancel.
 */
export async function sendSignal(
  services: SignalServices,
  scope: TenantScope,
  { idempotencyKey: key, chargeRate, ...message }: SendSignal,
): Promise<SentSignal> {
  const place = `signal_run:${message.runId}`;
  const details = key === undefined ? {} : { idempotency_key: key };
  return services.store.transaction((tx) =>
    deliver(services, tx, { scope, message, place, key, details, chargeRate }),
  );
}

export interface ReceiveCallback {
  readonly token: string;
  readonly data: Json;
  readonly by: RequestActor;
}

/**
 * D-910: a stranger who has a callback URL sends the one message that it is for. The proof is compared before any row
 * is read, and everything that a stranger must not learn is the same refusal.
 */
export async function receiveCallback(
  services: CallbackServices,
  { token, data, by }: ReceiveCallback,
): Promise<SentSignal> {
  const callback = services.callbacks.open(token) ?? refuse('not_found');
  const { runId, name } = callback;
  const { store } = services;
  const scope = (await store.read.runs.ownerOf(runId)) ?? refuse('not_found');
  const message = { runId, name, data, by };
  const place = `callback:${runId}`;
  // The token itself is a secret, and is not stored.
  const key = provenText(callback);
  const asked = { scope, message, place, key, details: { callback: true }, chargeRate: () => {} };
  const delivered = store.inTenantScope(scope.tenantId, () =>
    store.transaction(async (tx) => {
      if (!(await tx.tenants.isUsable(scope))) refuse('not_found');
      return deliver(services, tx, asked);
    }),
  );
  return delivered.catch((error: unknown) => orOver(services, { token, error }));
}

/**
 * The error, as a sender of a callback sees it: of a URL that is over, whatever is wrong with the message is the same
 * refusal as of a wrong URL (D-1050).
 */
export async function orOver(
  { store, callbacks }: Pick<Services, 'store' | 'callbacks'>,
  { token, error }: { readonly token: string; readonly error: unknown },
): Promise<never> {
  if (!(error instanceof Refusal)) throw error;
  const { runId } = callbacks.open(token) ?? refuse('not_found');
  const scope = (await store.read.runs.ownerOf(runId)) ?? refuse('not_found');
  const run = await store.read.runs.findById(scope, runId);
  const takesMessages = run !== undefined && !isEnded(run) && run.status !== 'cancelling';
  if (!takesMessages || !(await store.read.tenants.isUsable(scope))) refuse('not_found');
  // Its sender knows of no key.
  if (error.code === 'idempotency_conflict') refuse(error.code, { message: usedBefore });
  throw error;
}

const usedBefore = 'This URL has received another message before.';

interface Delivery {
  readonly scope: TenantScope;
  readonly message: Message;
  readonly place: string;
  readonly key: string | undefined;
  /** For the audit, which never has the data. */
  readonly details: JsonObject;
  readonly chargeRate: () => void;
}

async function deliver(
  services: SignalServices,
  tx: StoreTransaction,
  { scope, message, place, key, details, chargeRate }: Delivery,
): Promise<SentSignal> {
  const { clock, ids } = services;
  const { runId, name, data, by } = message;
  const found = (await tx.runs.findById(scope, runId)) ?? refuse('not_found');
  const { sessionId } = found;
  const seen = (await lockRun(tx, { scope, sessionId, runId })) ?? refuse('not_found');
  const now = clock.now();
  const open = await tx.waits.openSignal(runId, name);
  const id = open?.id ?? ids.next(idPrefixes.wait);
  const request = { scope, place, key, body: { name, data }, resourceId: id, now, chargeRate };
  const first = await once(tx, request);
  if (!first.fresh) {
    const kept = await tx.waits.find(first.resourceId);
    return { isReplayed: true, isReceived: kept?.ref !== null };
  }
  if (isEnded(seen.run) || seen.run.status === 'cancelling') return refuse('run_terminal');
  await refuseTooMany(tx, runId, { data, isKept: open === undefined });
  if (open === undefined) {
    const { organizationId, tenantId } = scope;
    const own = { id, organizationId, tenantId, sessionId, runId };
    await tx.waits.insert(keptMessage(own, { name, data }, now));
  } else {
    await recordWait(services, tx, { seen, wait: open, result: { outcome: 'received', data } });
  }
  await recordAudit(tx, {
    chain: scope.organizationId,
    at: now,
    by,
    action: 'run.signal',
    object: runId,
    details: { signal: name, ...details },
  });
  return { isReplayed: false, isReceived: open !== undefined };
}

/** Each leg of the run gets all messages with its start message. */
async function refuseTooMany(
  tx: StoreTransaction,
  runId: RunId,
  { data, isKept }: { readonly data: Json; readonly isKept: boolean },
): Promise<void> {
  const { kept, characters } = await tx.waits.messages(runId);
  const sum = characters + JSON.stringify(data).length;
  const isFull = isKept && kept >= limits.signalsKeptPerRun;
  if (isFull || sum > limits.signalsMaxCharacters) refuse('signal_limit_reached');
}
