import type { Agent } from '../../domain/agent.ts';
import { mayUseAccounts, missingText, placesFor } from '../../domain/connections/declared.ts';
import { isUsableAtStart } from '../../domain/connections/refresh.ts';
import type { Session } from '../../domain/session.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { refuse } from '../refusal.ts';

/**
 * D-601: refuses a run whose agent needs an account that is missing or has expired, in the transaction that would insert
 * it. Reads nothing for an agent that declares none.
 */
export async function requireAccounts(
  tx: StoreTransaction,
  { agent, session, starter, now }: StartingRun,
): Promise<void> {
  const { connections = [] } = agent;
  if (connections.length === 0) return;
  if (!mayUseAccounts(connections, session, starter)) {
    refuse('forbidden', {
      message: 'The agent would act with the account of the person whose session it is.',
    });
  }
  for (const declared of connections) {
    if (!declared.isRequired) continue;
    let isUsable = false;
    for (const at of placesFor(declared, session)) {
      const found = await tx.connections.find(session, at);
      if (found === undefined) continue;
      isUsable = isUsableAtStart(found, now);
      break;
    }
    if (!isUsable) refuse('connection_missing', { message: missingText(declared) });
  }
}

interface StartingRun {
  readonly agent: Pick<Agent, 'connections'>;
  readonly session: Session;
  /** The client or the person that starts the run. */
  readonly starter: string | null;
  readonly now: number;
}
