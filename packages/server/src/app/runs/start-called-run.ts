import { idPrefixes, sessionId } from '@convoke/contract';
import { isPerson } from '../../domain/connections/declared.ts';
import { type Json, isObject } from '../../domain/json.ts';
import { callersOf, pathOf, rootPathOf } from '../../domain/run/ancestry.ts';
import { calledRunsMax, refusedCall, refusedInTree } from '../../domain/run/called-run.ts';
import type { Run } from '../../domain/run/run.ts';
import { type Ceiling, isReached } from '../../domain/usage/budget.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { mayStart } from '../may-start.ts';
import type { RunInSession } from '../record.ts';
import { refuse } from '../refusal.ts';
import { insertSession } from '../sessions.ts';
import { type StartServices, startWithin } from './start-run.ts';

export interface CalledStart {
  readonly name: string;
  readonly input: Json;
  readonly ceiling: Ceiling | undefined;
}

/** Why the caller may not start this run, from what can be known without writing anything; undefined if it may. */
export async function whyNotCalled(
  { agents }: Pick<StartServices, 'agents'>,
  tx: StoreTransaction,
  { caller, request: { name, input } }: { readonly caller: Run; readonly request: CalledStart },
): Promise<string | undefined> {
  const agent = agents.find(caller.agentName);
  const why = refusedCall({ caller, agent, name, input });
  if (why !== undefined) return why;
  const [callers, calls, below, ceilings, isAllowed] = await Promise.all([
    tx.runs.agentsOf(callersOf(caller)),
    tx.waits.countCalls(caller.id),
    tx.runs.countBelow(rootPathOf(caller), calledRunsMax),
    tx.budgets.ofCallers(caller),
    isStarterAllowed(tx, caller),
  ]);
  const chain = [caller.agentName, ...callers];
  const inTree = refusedInTree({ name, chain, calls, below });
  if (inTree !== undefined) return inTree;
  if (ceilings.some(({ ceiling, spent }) => isReached(ceiling, spent))) {
    return 'The budget of the run, or of one that called it, is used up.';
  }
  return isAllowed ? undefined : 'The client or person that started this run may start no more.';
}

function isStarterAllowed(tx: StoreTransaction, caller: Run): Promise<boolean> | boolean {
  const id = caller.createdBy ?? caller.clientId;
  if (id === null) return false;
  const kind = isPerson(id) ? 'user' : 'client';
  return mayStart(tx, { scope: caller, starter: { kind, id }, opensSessions: true });
}

/**
 * D-920: a run of the same tenant, client, person and end user, with the labels of its caller, in a session of its own.
 */
export async function startCalledRun(
  services: StartServices,
  tx: StoreTransaction,
  {
    caller: { run, session },
    request: { name, input, ceiling },
  }: { readonly caller: RunInSession; readonly request: CalledStart },
): Promise<Run> {
  const { organizationId, tenantId, labels, clientId } = run;
  const scope = { organizationId, tenantId };
  const createdBy = run.createdBy ?? undefined;
  const { endUser } = session;
  const request = {
    input: isObject(input) ? input : refuse('invalid_body'),
    clientId,
    createdBy,
    labels,
    ceiling,
    ancestors: pathOf(run),
    idempotencyKey: undefined,
    chargeRate: () => {},
  };
  const { resource } = await startWithin(services, tx, {
    scope,
    request,
    place: 'call_agent',
    body: {},
    session: {
      isNew: true,
      get: () => {
        const id = sessionId(services.ids.next(idPrefixes.session));
        return insertSession(services, tx, {
          scope,
          id,
          request: { agentName: name, createdBy, endUser },
        });
      },
    },
  });
  return resource;
}
