import type { Actor, AuditAction } from '../../domain/audit.ts';
import type { Connection } from '../../domain/connections/connection.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordAudit } from '../audit.ts';

/** D-602: never a value. Call it last in the transaction (`recordAudit`). */
export async function auditConnection(
  tx: StoreTransaction,
  entry: {
    readonly connection: Connection;
    readonly action: AuditAction;
    readonly by: Actor;
    readonly now: number;
  },
): Promise<void> {
  const { connection, action, by, now } = entry;
  const { organizationId, tenantId, id, service, endUser, version, statusReason } = connection;
  await recordAudit(tx, {
    chain: organizationId,
    at: now,
    by,
    action,
    object: id,
    details: {
      tenant_id: tenantId,
      service,
      ...(endUser === null ? {} : { owner: endUser }),
      auth_type: connection.auth.type,
      version,
      ...(statusReason === null ? {} : { reason: statusReason }),
    },
  });
}
