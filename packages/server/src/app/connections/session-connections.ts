import type { ConnectionReason, SessionConnectionStatus, SessionId } from '@convoke/contract';
import { isEnabledFor } from '../../domain/agent.ts';
import type { Connection, ConnectionPlace } from '../../domain/connections/connection.ts';
import type { DeclaredConnection } from '../../domain/connections/declared.ts';
import type { DeclaredLink } from '../../domain/connections/link.ts';
import { stateAtStart } from '../../domain/connections/refresh.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { Session } from '../../domain/session.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { getSession } from '../sessions.ts';
import { accountFor } from './required-accounts.ts';

type SessionServices = Pick<Services, 'store' | 'clock' | 'settings' | 'agents'>;

/** A service that the agent of a session uses, and the account that a run would use now. */
export interface SessionConnection {
  readonly declared: DeclaredConnection;
  readonly status: SessionConnectionStatus;
  readonly statusReason: ConnectionReason | undefined;
  readonly connection: Connection | undefined;
}

/** In the order of `agent.yaml`: an agent declares few, so there are no pages. */
export async function listSessionConnections(
  services: SessionServices,
  scope: TenantScope,
  id: SessionId,
): Promise<SessionConnection[]> {
  const session = await getSession(services, scope, id);
  const now = services.clock.now();
  return Promise.all(
    declaredFor(services, session).map(async (declared) => {
      const connection = await accountFor(services.store.read, session, declared);
      return { declared, connection, ...stateOf(connection, now) };
    }),
  );
}

/** An account that has ended is shown so, though its row may not say it yet: no run starts with it. */
function stateOf(
  connection: Connection | undefined,
  now: number,
): Pick<SessionConnection, 'status' | 'statusReason'> {
  if (connection === undefined) return { status: 'missing', statusReason: undefined };
  const state = stateAtStart(connection, now);
  if (state === 'usable') return { status: 'connected', statusReason: undefined };
  const statusReason = state === 'unusable' ? (connection.statusReason ?? undefined) : state.reason;
  return { status: 'expired', statusReason };
}

/**
 * D-941: a service of which the agent uses the accounts of end users, the end user of the session, and how to connect
 * it.
 */
export async function placeInSession(
  services: SessionServices,
  scope: TenantScope,
  { id, service }: { readonly id: SessionId; readonly service: string },
): Promise<OwnPlace> {
  const session = await getSession(services, scope, id);
  const declared = declaredFor(services, session).find((one) => one.service === service);
  if (declared?.owner !== 'end_user') return refuse('not_found');
  const { endUser } = session;
  if (endUser === null) {
    return refuse('connection_missing', {
      message: 'The session has no end user, so it has no accounts of one.',
    });
  }
  return { at: { service, endUser }, link: declared.link };
}

interface OwnPlace {
  readonly at: ConnectionPlace & { readonly endUser: string };
  readonly link: DeclaredLink | undefined;
}

function declaredFor(
  { agents }: Pick<Services, 'agents'>,
  { agentName, tenantId }: Pick<Session, 'agentName' | 'tenantId'>,
): readonly DeclaredConnection[] {
  const agent = agents.find(agentName);
  if (agent === undefined || !isEnabledFor(agent, tenantId)) return [];
  return agent.connections ?? [];
}
