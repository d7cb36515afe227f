import type { ConnectionStatus, TenantId } from '@convoke/contract';
import type { Connection, ConnectionPlace } from '../../domain/connections/connection.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { PageRequest } from '../page.ts';

export interface ConnectionRepository {
  insert(connection: Connection): Promise<void>;
  find(scope: Pick<TenantScope, 'tenantId'>, at: ConnectionPlace): Promise<Connection | undefined>;
  /** Locks the row until the transaction ends. */
  lock(scope: Pick<TenantScope, 'tenantId'>, at: ConnectionPlace): Promise<Connection | undefined>;
  save(connection: Connection): Promise<void>;
  /** When it was used last, unless it has changed since. */
  saveUse(used: Pick<Connection, 'tenantId' | 'id' | 'version'>, now: number): Promise<void>;
  remove(connection: Pick<Connection, 'tenantId' | 'id'>): Promise<void>;
  list(scope: TenantScope, filter: ConnectionFilter, page: PageRequest): Promise<Connection[]>;
  count(scope: TenantScope): Promise<number>;
  /** Deletes connections of an offboarded tenant; true when none are left. */
  purge(tenantId: TenantId, limit: number): Promise<boolean>;
}

export interface ConnectionFilter {
  readonly service?: string | undefined;
  readonly endUser?: string | undefined;
  readonly status?: ConnectionStatus | undefined;
}
