import type { CredentialId, PendingOperationKind } from '@convoke/contract';
import type { Client } from '../domain/client.ts';
import {
  type Withdrawal,
  type WithdrawalStep,
  openWithdrawal,
  stepPostponed,
  stepTaken,
} from '../domain/withdrawal.ts';
import type { CredentialProvider } from '../ports/credential-provider.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { within } from '../runtime/within.ts';
import type { Services } from './services.ts';

export type WithdrawingServices = Pick<Services, 'store' | 'clock' | 'ids' | 'log' | 'fanout'> & {
  readonly provider: CredentialProvider;
};

/** A resource, and its pending withdrawal of access, if any. */
export interface Withdrawn<T> {
  readonly resource: T;
  readonly pending: Withdrawal | undefined;
}

/** Inserts the record of the remaining steps, in the transaction that takes the access away. */
export async function enterWithdrawal(
  { ids, clock }: Pick<Services, 'ids' | 'clock'>,
  tx: StoreTransaction,
  request: {
    readonly client: Client;
    readonly kind: PendingOperationKind;
    readonly credentialId?: CredentialId;
  },
): Promise<Withdrawal> {
  const { client, kind, credentialId = null } = request;
  const { id: clientId, organizationId } = client;
  const fresh = { id: ids.next('wdr'), organizationId, clientId, credentialId, kind };
  const withdrawal = openWithdrawal(fresh, clock.now());
  await tx.withdrawals.insert(withdrawal);
  return withdrawal;
}

/** How long the request waits for the steps. After that it is answered 202 and a worker finishes them. */
const requestWaitMs = 1_000;

/** Takes the steps while the request waits. Returns the withdrawal if it is still pending then. */
export async function finishWithinRequest(
  services: WithdrawingServices,
  withdrawal: Withdrawal | undefined,
): Promise<Withdrawal | undefined> {
  if (withdrawal === undefined) return undefined;
  const finishing = finishWithdrawal(services, withdrawal).catch((error: unknown) => {
    report(services, withdrawal, error);
    return false;
  });
  const isFinished = await within(
    { clock: services.clock, ms: requestWaitMs, late: false },
    finishing,
  );
  return isFinished ? undefined : withdrawal;
}

/** Takes the remaining steps, one transaction each; true once none is left. */
export async function finishWithdrawal(
  services: WithdrawingServices,
  begun: Withdrawal,
): Promise<boolean> {
  const { store } = services;
  for (let current = begun; ; ) {
    if ((await attempt(services, current)) === 'pending') {
      await postpone(services, current);
      return false;
    }
    const next = stepTaken(current);
    const isMoved = await store.transaction((tx) =>
      next === undefined ? tx.withdrawals.remove(current) : tx.withdrawals.save(next, current),
    );
    // Another worker took the step, or the access was given back: leave the rest to them.
    if (!isMoved) return (await store.read.withdrawals.find(current.id)) === undefined;
    if (next === undefined) return true;
    current = next;
  }
}

/** A provider that has not answered after this time is called again later. */
const attemptMaxMs = 30_000;

/** A step that fails counts as `pending`, like one that takes long: it is retried. */
async function attempt(
  services: WithdrawingServices,
  withdrawal: Withdrawal,
): Promise<'done' | 'pending'> {
  try {
    return await within(
      { clock: services.clock, ms: attemptMaxMs, late: 'pending' },
      steps[withdrawal.step](services, withdrawal),
    );
  } catch (error) {
    report(services, withdrawal, error);
    return 'pending';
  }
}

const steps: {
  readonly [Step in WithdrawalStep]: (
    services: WithdrawingServices,
    withdrawal: Withdrawal,
  ) => Promise<'done' | 'pending'>;
} = {
  // If the wake-up is lost, each server's periodic check of its streams closes them (D-33).
  streams({ fanout }, { clientId }) {
    fanout.wake(`access:${clientId}`);
    return Promise.resolve('done');
  },
  provider: ({ provider }, withdrawal) => provider.withdraw(withdrawal),
};

async function postpone(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  withdrawal: Withdrawal,
): Promise<void> {
  const next = stepPostponed(withdrawal, clock.now());
  await store.transaction((tx) => tx.withdrawals.save(next, withdrawal));
}

function report({ log }: Pick<Services, 'log'>, withdrawal: Withdrawal, error: unknown): void {
  log.error('a step of a withdrawal of access failed', error, {
    withdrawal_id: withdrawal.id,
    client_id: withdrawal.clientId,
    kind: withdrawal.kind,
    step: withdrawal.step,
  });
}
