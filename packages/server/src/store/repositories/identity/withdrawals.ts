import {
  type Withdrawal,
  type WithdrawalStep,
  withdrawalSteps,
} from '../../../domain/withdrawal.ts';
import type { WithdrawalRepository } from '../../../ports/repositories/identity/withdrawals.ts';
import { type NounRow, made, nounTable, number, text } from '../../columns.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/** The columns of a withdrawal: a new field of a withdrawal is one line here. */
const withdrawalTable = nounTable<Withdrawal>('withdrawals', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    clientId: text('client_record_id', 'fixed'),
    credentialId: text('credential_id', 'fixed'),
    kind: text('kind', 'fixed'),
    step: made({ step: { kind: 'text', write: ({ step }) => step } }, stepIn),
    attempts: number('attempts'),
    nextAttemptAt: number('next_attempt_at'),
    requestedAt: number('requested_at', 'fixed'),
  },
});
const { columns } = withdrawalTable;

export function withdrawalRepository(db: Transaction): WithdrawalRepository {
  return {
    async insert(withdrawal) {
      await db.run(withdrawalTable.insert(withdrawal));
    },
    async find(id) {
      const row = await db.get<NounRow>(sql`select ${columns} from withdrawals where id = ${id}`);
      return row && withdrawalTable.read(row);
    },
    async save(next, seen) {
      const changed = await db.run(sql`
        update withdrawals set ${withdrawalTable.assignments(next)}
        where id = ${seen.id} and step = ${seen.step} and attempts = ${seen.attempts}`);
      return changed === 1;
    },
    async remove(seen) {
      const removed = await db.run(sql`
        delete from withdrawals where id = ${seen.id} and step = ${seen.step}`);
      return removed === 1;
    },
    async cancel(client, kind) {
      await db.run(sql`
        delete from withdrawals where client_record_id = ${client} and kind = ${kind}`);
    },
    async due(now, limit) {
      const rows = await db.all<NounRow>(sql`
        select ${columns} from withdrawals where next_attempt_at <= ${now}
        order by next_attempt_at, id limit ${limit}`);
      return rows.map(withdrawalTable.read);
    },
    async ofClients(clients) {
      if (clients.length === 0) return [];
      const list = sql.join(clients.map((id) => sql`${id}`));
      const rows = await db.all<NounRow>(sql`
        select ${columns} from withdrawals where client_record_id in (${list})
        order by id limit ${listedMax}`);
      return rows.map(withdrawalTable.read);
    },
  };
}

/** Each belongs to one accepted request of a person and is finished within moments. */
const listedMax = 10_000;

/** A step that this release does not know starts again from the beginning. */
function stepIn(row: { readonly step: string }): WithdrawalStep {
  return withdrawalSteps.find((step) => step === row.step) ?? withdrawalSteps[0];
}
