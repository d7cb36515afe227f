import type { Labels } from '@convoke/contract';
import type { LabelOwner, LabelRepository } from '../../../ports/repositories/runs/labels.ts';
import { rowInserter } from '../../insert-rows.ts';
import { fromJsonText } from '../../json-text.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

const insertRows = rowInserter(sql`insert into labels (owner_id, key, tenant_id, value)`, 4);

export function labelRepository(db: Transaction): LabelRepository {
  const insert = ({ tenantId, id }: LabelOwner, labels: Labels) =>
    insertRows(
      db,
      Object.entries(labels).map(([key, value]) => [id, key, tenantId, value]),
    );
  return {
    insert,
    async replace(owner, labels) {
      await db.run(sql`
        delete from labels where owner_id = ${owner.id} and tenant_id = ${owner.tenantId}`);
      insert(owner, labels);
    },
  };
}

/** The copy in the row of a run or a session; null when there are none. */
export function labelsText(labels: Labels): string | null {
  return Object.keys(labels).length === 0 ? null : JSON.stringify(labels);
}

export function labelsIn({ labels }: { readonly labels: string | null }): Labels {
  return fromJsonText<Labels>(labels) ?? {};
}
