import { tenantId } from '@convoke/contract';
import type {
  IdempotencyEntry,
  IdempotencyRepository,
} from '../../ports/repositories/idempotency.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function idempotencyRepository(db: Transaction): IdempotencyRepository {
  async function find(scope: string, key: string): Promise<IdempotencyEntry | undefined> {
    const row = await db.get<IdempotencyRow>(
      sql`select * from idempotency_keys where scope = ${scope} and key = ${key}`,
    );
    return row && entryOf(row);
  }

  return {
    find,

    async claim(entry) {
      const inserted = await db.run(sql`
        insert into idempotency_keys (scope, key, tenant_id, fingerprint, resource_id, created_at)
        values (${entry.scope}, ${entry.key}, ${entry.tenantId}, ${entry.fingerprint},
          ${entry.resourceId}, ${entry.createdAt})
        on conflict (scope, key) do nothing`);
      if (inserted === 1) return { taken: true };
      const known = await find(entry.scope, entry.key);
      if (known === undefined)
        throw new Error('an idempotency key disappeared while it was claimed');
      return { taken: false, known };
    },

    move({ scope, key }, resourceId) {
      db.changeOneLater(sql`
        update idempotency_keys set resource_id = ${resourceId}
        where scope = ${scope} and key = ${key}`);
    },
  };
}

interface IdempotencyRow {
  scope: string;
  key: string;
  tenant_id: string | null;
  fingerprint: string;
  resource_id: string;
  created_at: number;
}

function entryOf(row: IdempotencyRow): IdempotencyEntry {
  return {
    scope: row.scope,
    key: row.key,
    tenantId: row.tenant_id === null ? null : tenantId(row.tenant_id),
    fingerprint: row.fingerprint,
    resourceId: row.resource_id,
    createdAt: row.created_at,
  };
}
