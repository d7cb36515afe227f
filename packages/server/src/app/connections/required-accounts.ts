import type { Agent } from '../../domain/agent.ts';
import { type ConnectPages, connectPageFor } from '../../domain/connections/asked-account.ts';
import {
  type DeclaredConnection,
  mayUseAccounts,
  missingText,
  placesFor,
} from '../../domain/connections/declared.ts';
import type { Connection } from '../../domain/connections/connection.ts';
import { type EndOfAccount, stateAtStart } from '../../domain/connections/refresh.ts';
import type { Session } from '../../domain/session.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type ExpiryServices, expireSeen } from './expire-account.ts';

/**
 * D-601: refuses a run whose agent needs an account that is missing or has expired, in the transaction that would
 * insert it. Reads nothing for an agent that declares none.
 */
export async function requireAccounts(
  tx: StoreTransaction,
  { agent, session, starter, settings, now }: StartingRun,
): Promise<void> {
  const { connections = [] } = agent;
  if (connections.length === 0) return;
  if (!mayUseAccounts(connections, session, starter)) {
    refuse('forbidden', {
      message: 'The agent would act with the account of the person whose session it is.',
    });
  }
  let missing: DeclaredConnection | undefined;
  const ended: EndedAccount[] = [];
  for (const declared of connections) {
    // D-607: the first leg asks for it.
    if (!declared.isRequired || connectPageFor(declared, session, settings)) continue;
    const found = await accountFor(tx, session, declared);
    const state = found === undefined ? 'unusable' : stateAtStart(found, now);
    if (state === 'usable') continue;
    missing ??= declared;
    if (found !== undefined && state !== 'unusable') ended.push({ ...state, connection: found });
  }
  if (missing !== undefined) throw new AccountsMissing(missingText(missing), ended);
}

/**
 * The account that a run of the session uses: one that has expired does not fall back to that of the tenant (D-596).
 */
export async function accountFor(
  { connections }: Pick<StoreTransaction, 'connections'>,
  session: Session,
  declared: DeclaredConnection,
): Promise<Connection | undefined> {
  for (const at of placesFor(declared, session)) {
    const found = await connections.find(session, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface EndedAccount extends EndOfAccount {
  readonly connection: Connection;
}

/** The refusal of a start. `ended`: accounts that have ended, as the refused transaction was the first to see. */
class AccountsMissing extends Refusal {
  readonly ended: readonly EndedAccount[];

  constructor(message: string, ended: readonly EndedAccount[]) {
    super('connection_missing', { message });
    this.ended = ended;
  }
}

/**
 * D-940: expires the accounts that a refused start has seen ended, so that lists show it and the feed asks for them. In
 * transactions of their own, because that of the start is rolled back, and before the refusal is answered.
 */
export async function expireEnded(services: ExpiryServices, refusal: unknown): Promise<void> {
  if (!(refusal instanceof AccountsMissing)) return;
  for (const { connection, reason } of refusal.ended) {
    await expireSeen(services, connection, reason);
  }
}

interface StartingRun {
  readonly agent: Pick<Agent, 'connections'>;
  readonly session: Session;
  /** The client or the person that starts the run. */
  readonly starter: string | null;
  readonly settings: ConnectPages;
  readonly now: number;
}
