import type { ConnectionReason } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import type { Connection } from '../../domain/connections/connection.ts';
import { expire, expiredNotice } from '../../domain/connections/refresh.ts';
import { announce } from '../feed/notices.ts';
import type { Services } from '../services.ts';
import { auditConnection } from './audit-connection.ts';

export type ExpiryServices = Pick<Services, 'store' | 'clock' | 'fanout'>;

const service: Actor = { kind: 'system', id: 'connections', requestId: null, address: null };

/** Once, by the first server that sees it: the others find the row changed. */
export function expireSeen(
  services: ExpiryServices,
  seen: Connection,
  reason: ConnectionReason,
): Promise<void> {
  const isStill = (now: Connection) =>
    now.status === 'connected' &&
    now.version === seen.version &&
    now.refreshEpoch === seen.refreshEpoch;
  return expireWhere(services, seen, { isStill, reason });
}

export async function expireWhere(
  services: ExpiryServices,
  seen: Connection,
  { isStill, reason }: Pick<Change, 'isStill'> & { readonly reason: ConnectionReason },
): Promise<void> {
  await changeConnection(services, seen, {
    isStill,
    next: (now, at) => expire(now, reason, at),
    tell: true,
  });
}

export interface Change {
  /** Whether the row is still as this server saw it; nothing is written otherwise. */
  readonly isStill: (now: Connection) => boolean;
  readonly next: (now: Connection, at: number) => Connection;
  /** Whether the feed and the audit log tell it. */
  readonly tell?: true;
}

export async function changeConnection(
  services: ExpiryServices,
  seen: Connection,
  { isStill, next, tell }: Change,
): Promise<Connection | undefined> {
  const { store, clock, fanout } = services;
  return store.transaction(async (tx) => {
    const locked = await tx.connections.lock(seen, seen);
    if (locked?.id !== seen.id || !isStill(locked)) return undefined;
    const now = clock.now();
    const connection = next(locked, now);
    await tx.connections.save(connection);
    tx.onCommit(() => fanout.wake(`connection:${seen.id}`));
    if (tell === true) {
      const { tenantId } = connection;
      announce(services, tx, { tenantId, notices: [expiredNotice(connection, now)] });
      await auditConnection(tx, { connection, action: 'connection.expire', by: service, now });
    }
    return connection;
  });
}
