import {
  type PendingOperationKind,
  clientId,
  credentialId,
  organizationId,
} from '@convoke/contract';
import { type Withdrawal, withdrawalSteps } from '../../domain/withdrawal.ts';
import type { WithdrawalRepository } from '../../ports/repositories/withdrawals.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function withdrawalRepository(db: Transaction): WithdrawalRepository {
  return {
    async insert(withdrawal) {
      await db.run(sql`
        insert into withdrawals (id, organization_id, client_record_id, credential_id, kind, step,
          attempts, next_attempt_at, requested_at)
        values (${withdrawal.id}, ${withdrawal.organizationId}, ${withdrawal.clientId},
          ${withdrawal.credentialId}, ${withdrawal.kind}, ${withdrawal.step},
          ${withdrawal.attempts}, ${withdrawal.nextAttemptAt}, ${withdrawal.requestedAt})`);
    },
    async find(id) {
      const row = await db.get<WithdrawalRow>(
        sql`select ${columns} from withdrawals where id = ${id}`,
      );
      return row && toWithdrawal(row);
    },
    async save(next, seen) {
      const changed = await db.run(sql`
        update withdrawals set step = ${next.step}, attempts = ${next.attempts},
          next_attempt_at = ${next.nextAttemptAt}
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
      const rows = await db.all<WithdrawalRow>(sql`
        select ${columns} from withdrawals where next_attempt_at <= ${now}
        order by next_attempt_at, id limit ${limit}`);
      return rows.map(toWithdrawal);
    },
    async ofClients(clients) {
      if (clients.length === 0) return [];
      const list = sql.join(clients.map((id) => sql`${id}`));
      const rows = await db.all<WithdrawalRow>(sql`
        select ${columns} from withdrawals where client_record_id in (${list})
        order by id limit ${listedMax}`);
      return rows.map(toWithdrawal);
    },
  };
}

/** Each belongs to one accepted request of a person and is finished within moments. */
const listedMax = 10_000;

const columns = sql`id, organization_id, client_record_id, credential_id, kind, step, attempts,
  next_attempt_at, requested_at`;

interface WithdrawalRow {
  id: string;
  organization_id: string;
  client_record_id: string;
  credential_id: string | null;
  kind: PendingOperationKind;
  step: string;
  attempts: number;
  next_attempt_at: number;
  requested_at: number;
}

function toWithdrawal(row: WithdrawalRow): Withdrawal {
  return {
    id: row.id,
    organizationId: organizationId(row.organization_id),
    clientId: clientId(row.client_record_id),
    credentialId: row.credential_id === null ? null : credentialId(row.credential_id),
    kind: row.kind,
    // A step that this release does not know starts again from the beginning.
    step: withdrawalSteps.find((step) => step === row.step) ?? withdrawalSteps[0],
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    requestedAt: row.requested_at,
  };
}
