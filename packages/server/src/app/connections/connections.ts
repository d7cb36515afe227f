import { connectionId, idPrefixes } from '@convoke/contract';
import type { ApplicationActor } from '../../domain/access.ts';
import type { Actor, AuditAction } from '../../domain/audit.ts';
import {
  type Connection,
  type ConnectionPlace,
  type GivenAccount,
  firstVersion,
  mayAddConnection,
  openConnection,
  replaceAccount,
} from '../../domain/connections/connection.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { ConnectionFilter } from '../../ports/repositories/connections.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { auditConnection } from './audit-connection.ts';
import { endFlows } from './connect-flows.ts';

export type ConnectionServices = Pick<
  Services,
  'store' | 'clock' | 'ids' | 'fanout' | 'connectionSecrets' | 'tokenEndpoints'
>;

export interface PutConnection {
  readonly at: ConnectionPlace;
  readonly account: GivenAccount;
  readonly createdBy: ApplicationActor;
  readonly by: Actor;
}

export interface StoredConnection {
  readonly connection: Connection;
  readonly isNew: boolean;
}

/** D-590: connects an account, or replaces the one that is there. */
export async function putConnection(
  services: ConnectionServices,
  scope: TenantScope,
  put: PutConnection,
): Promise<StoredConnection> {
  await requireEndpoint(services, scope, put.account);
  return services.store.transaction((tx) =>
    storeAccount(services, tx, { scope, put, action: 'connection.put' }),
  );
}

interface Storing {
  readonly scope: TenantScope;
  readonly put: PutConnection;
  readonly action: AuditAction;
}

/**
 * The end of the transaction that connects an account. A new one takes the lock of the tenant, so that parallel
 * requests neither exceed the limit nor insert the same owner twice.
 */
export async function storeAccount(
  services: ConnectionServices,
  tx: StoreTransaction,
  { scope, put, action }: Storing,
): Promise<StoredConnection> {
  const { at, account, createdBy, by } = put;
  tx.onCommit(() => services.fanout.wake('connections'));
  const now = services.clock.now();
  const stored = async (connection: Connection, isNew: boolean): Promise<StoredConnection> => {
    await auditConnection(tx, { connection, action, by, now });
    return { connection, isNew };
  };
  const replaced = await replace(services, tx, { scope, at, account, now });
  if (replaced !== undefined) return stored(replaced, false);
  await tx.tenants.lock(scope.organizationId, scope.tenantId);
  if (!(await tx.tenants.isUsable(scope))) refuse('forbidden', { codeOnly: true });
  const other = await replace(services, tx, { scope, at, account, now });
  if (other !== undefined) return stored(other, false);
  orRefuse(mayAddConnection(await tx.connections.count(scope)));
  const id = connectionId(services.ids.next(idPrefixes.connection));
  const connection = openConnection(
    { ...scope, ...at, id, createdBy },
    sealedFor(services, { id, version: firstVersion }, account),
    now,
  );
  await tx.connections.insert(connection);
  return stored(connection, true);
}

/** D-609: refused here already, so that a mistake is seen at once; every refresh checks again. */
async function requireEndpoint(
  { tokenEndpoints }: Pick<ConnectionServices, 'tokenEndpoints'>,
  { tenantId }: TenantScope,
  { auth }: GivenAccount,
): Promise<void> {
  if (auth.type !== 'oauth' || auth.tokenEndpoint === undefined) return;
  const problem = await tokenEndpoints.problemOf({ tenantId, url: auth.tokenEndpoint });
  if (problem === undefined) return;
  refuse('invalid_connection_url', { message: `auth.token_endpoint: ${problem}` });
}

interface Replacing extends Pick<PutConnection, 'at' | 'account'> {
  readonly scope: TenantScope;
  readonly now: number;
}

async function replace(
  services: ConnectionServices,
  tx: StoreTransaction,
  { scope, at, account, now }: Replacing,
): Promise<Connection | undefined> {
  const seen = await tx.connections.lock(scope, at);
  if (seen === undefined) return undefined;
  const next = { id: seen.id, version: seen.version + 1 };
  const connection = replaceAccount(seen, sealedFor(services, next, account), now);
  await tx.connections.save(connection);
  return connection;
}

function sealedFor(
  { connectionSecrets }: Pick<ConnectionServices, 'connectionSecrets'>,
  of: Pick<Connection, 'id' | 'version'>,
  { auth, secret, expiresAt }: GivenAccount,
): Pick<Connection, 'auth' | 'sealed' | 'expiresAt'> {
  return { auth, expiresAt, sealed: connectionSecrets.seal(of, secret) };
}

export function listConnections(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  { filter, page }: { readonly filter: ConnectionFilter; readonly page: PageRequest },
): Promise<Connection[]> {
  return store.read.connections.list(scope, filter, page);
}

/** D-594: the row and its secret are gone. */
export function deleteConnection(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  { at, by }: Pick<PutConnection, 'at' | 'by'>,
): Promise<void> {
  return store.transaction(async (tx) => {
    const connection = (await tx.connections.lock(scope, at)) ?? refuse('not_found');
    await tx.connections.remove(connection);
    await endFlows(tx, scope, at);
    await auditConnection(tx, { connection, action: 'connection.delete', by, now: clock.now() });
  });
}
