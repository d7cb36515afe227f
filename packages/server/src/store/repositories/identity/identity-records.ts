import type {
  IdentityRecord,
  IdentityRecordRepository,
} from '../../../ports/repositories/identity/identity-records.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function identityRecordRepository(db: Transaction): IdentityRecordRepository {
  return {
    async save(record) {
      await db.run(sql`
        insert into identity_records (model, digest, user_id, grant_digest, uid_digest,
          user_code_digest, payload, consumed_at, expires_at)
        values (${record.model}, ${record.digest}, ${record.userId}, ${record.grantDigest},
          ${record.uidDigest}, ${record.userCodeDigest}, ${record.payload}, ${record.consumedAt},
          ${record.expiresAt})
        on conflict (model, digest) do update set user_id = excluded.user_id,
          grant_digest = excluded.grant_digest, uid_digest = excluded.uid_digest,
          user_code_digest = excluded.user_code_digest, payload = excluded.payload,
          expires_at = excluded.expires_at`);
    },
    async find(model, digest) {
      const row = await db.get<RecordRow>(sql`
        select ${columns} from identity_records where model = ${model} and digest = ${digest}`);
      return row && toRecord(row);
    },
    async findByUid(model, digest) {
      const row = await db.get<RecordRow>(sql`
        select ${columns} from identity_records where uid_digest = ${digest} and model = ${model}`);
      return row && toRecord(row);
    },
    async findByUserCode(model, digest) {
      const row = await db.get<RecordRow>(sql`
        select ${columns} from identity_records
        where user_code_digest = ${digest} and model = ${model}`);
      return row && toRecord(row);
    },
    async consume(model, digest, now) {
      const changed = await db.run(sql`
        update identity_records set consumed_at = ${now}
        where model = ${model} and digest = ${digest} and consumed_at is null`);
      return changed === 1;
    },
    async renew({ model, digest, uidDigest, payload }, now) {
      const changed = await db.run(sql`
        update identity_records set uid_digest = ${uidDigest}, payload = ${payload}
        where model = ${model} and digest = ${digest} and consumed_at is not null
          and expires_at > ${now}`);
      return changed === 1;
    },
    async remove(model, digest) {
      const removed = await db.run(sql`
        delete from identity_records where model = ${model} and digest = ${digest}`);
      return removed === 1;
    },
    async removeByGrant(digest) {
      await db.run(sql`delete from identity_records where grant_digest = ${digest}`);
    },
    async count(model, now) {
      const row = await db.get<{ count: number }>(sql`
        select count(*) as count from identity_records
        where model = ${model} and expires_at > ${now}`);
      return Number(row?.count ?? 0);
    },
    async ofUser(user, now) {
      const rows = await db.all<RecordRow>(sql`
        select ${columns} from identity_records
        where user_id = ${user} and consumed_at is null and expires_at > ${now}
        order by expires_at desc, digest limit ${ofUserMax}`);
      return rows.map(toRecord);
    },
    async removeByUser(user) {
      await db.run(sql`delete from identity_records where user_id = ${user}`);
    },
    async removeExpired(now, limit) {
      const removed = await db.run(sql`
        delete from identity_records where (model, digest) in (
          select model, digest from identity_records where expires_at <= ${now} limit ${limit})`);
      return removed >= limit;
    },
  };
}

/** Records of one person: a bound that no person reaches. */
const ofUserMax = 1_000;

const columns = sql`model, digest, user_id, grant_digest, uid_digest, user_code_digest, payload,
  consumed_at, expires_at`;

interface RecordRow {
  model: string;
  digest: string;
  user_id: string | null;
  grant_digest: string | null;
  uid_digest: string | null;
  user_code_digest: string | null;
  payload: string;
  consumed_at: number | null;
  expires_at: number;
}

function toRecord(row: RecordRow): IdentityRecord {
  return {
    model: row.model,
    digest: row.digest,
    userId: row.user_id,
    grantDigest: row.grant_digest,
    uidDigest: row.uid_digest,
    userCodeDigest: row.user_code_digest,
    payload: row.payload,
    consumedAt: row.consumed_at,
    expiresAt: row.expires_at,
  };
}
